package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bookingFile is a target file for a request that changes what is there: %s is the operation.
func bookingFile(operation string) string {
	return `name: bookings
base_url: ${OFFICE_URL}
database: {url: "${OFFICE_DATABASE}"}
` + operation
}

const prepareBooking = `    prepare:
      - request: {path: /bookings, body: {note: "{{.Intent.Marker}}"}}
        take: {Booking: {json: /booking/id}}
    cleanup:
      - request: {method: DELETE, path: "/bookings/{{.Prepared.Booking}}"}
`

const cancelBooking = `contract:
  natural_key: [path]
  replay: {body: json}
operations:
  cancel:
` + prepareBooking + `    request: {method: PATCH, path: "/bookings/{{.Prepared.Booking}}", body: {status: cancelled}}
    identity: /id
    rows: {query: "select id from bookings where note = :marker and status = 'cancelled'", identity: id}
`

const takeSeat = `contract:
  natural_key: [path]
operations:
  take_seat:
` + prepareBooking + `    request: {method: PATCH, path: "/bookings/{{.Prepared.Booking}}", body: {add: 1}}
    identity: /id
    rows: {query: "select id from bookings where note = :marker and seats > 0", identity: id}
    effects:
      - {name: seats, query: "select seats from bookings where note = :marker", value: 1}
`

const deleteBooking = `contract:
  natural_key: [path]
  existing: {statuses: [404]}
operations:
  cancel:
` + `    prepare:
      - request: {path: /bookings, body: {note: "{{.Intent.Marker}}"}}
        take: {Booking: {json: /booking/id}}
    request: {method: DELETE, path: "/bookings/{{.Prepared.Booking}}"}
    rows: {query: "select 1 as gone where not exists (select 1 from bookings where note = :marker)"}
`

func TestSettingAStateTwiceIsAsGoodAsOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	x := o.trial(t, bookingFile(cancelBooking), "burst-same-key", "fresh-key-retry", "distinct-twins", "sequential-replay", "withheld-answer", "sweep", "lost-request")
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Regexp(t, `distinct-twins +n/a`, got.out)
	require.Regexp(t, `fresh-key-retry +pass`, got.out)
	require.Zero(t, o.count(t, "bookings"))
}

func TestAddingTwiceIsCaughtByItsEffect(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	x := o.trial(t, bookingFile(takeSeat), "sequential-replay", "withheld-answer")
	got := x.run(t)
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Regexp(t, `sequential-replay +fail.*effect-mismatch in 8 of 8`, got.out)
	require.Regexp(t, `withheld-answer +fail.*effect-mismatch in 10 of 10`, got.out)
}

func TestDeletingTwiceIsAsGoodAsOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	x := o.trial(t, bookingFile(deleteBooking), "burst-same-key", "fresh-key-retry", "sequential-replay", "withheld-answer", "sweep", "lost-request")
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Zero(t, o.count(t, "bookings"))
}

func TestAQueryThatFindsWhatWasPreparedIsNamed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	x := o.trial(t, bookingFile(strings.Replace(cancelBooking, " and status = 'cancelled'", "", 1)), "plain-create")
	got := x.run(t)
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, "operations.cancel.rows.query of")
	require.Contains(t, got.err, "finds a row before the first request")
}
