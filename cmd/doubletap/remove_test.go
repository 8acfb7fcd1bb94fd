package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
)

// softShop is a service whose deleted orders stay as rows.
const softShop = `name: shop
base_url: http://127.0.0.1:0
database: {ephemeral: sqlite}
process: {command: [doubletap, targets, serve, soft-delete, --listen, "127.0.0.1:{{.Port}}", --database, "{{.Database.URL}}", --keep]}
contract:
  level: dedup-only
  natural_key: [/reference]
  ack: {statuses: [201]}
  existing: {statuses: [409], where: {/code: already_exists}, identity: /id}
operations:
  create_order:
    request:
      path: /orders
      headers: {Authorization: Bearer alice-token}
      body: {note: "{{.Intent.Marker}}", reference: "{{.Intent.Reference}}", item: lamp, amount: 1200}
    identity: /id
    rows: {query: select id from orders where note = :marker and deleted_at is null, identity: id}
    remove:
      - request: {method: DELETE, path: "/orders/{{.Made.Identity}}", headers: {Authorization: Bearer alice-token}}
        statuses: [204]
`

func TestWhatWasMadeIsRemovedAndWantedAgain(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, old, new string) (outcome, checker.Result) {
		x := trial{reports: t.TempDir()}
		require.Contains(t, softShop, old)
		got := typed(t, "run", "--target", writeFile(t, "shop.yaml", strings.Replace(softShop, old, new, 1)), "--reports", x.reports, "made-again")
		return got, onlyReport(t, x.reports).Results[0]
	}
	for name, c := range map[string]struct {
		old, new, why string
		verdict       checker.Verdict
	}{
		"and it comes true":               {"", "", "", checker.Pass},
		"the request is refused":          {"/orders/{{", "/orders/x{{", "was answered 404, expected 204", checker.Inconclusive},
		"the row query counts it":         {" and deleted_at is null", "", "its row is still found (1)", checker.Inconclusive},
		"nobody says how":                 {softShop[strings.Index(softShop, "    remove:"):], "", "(remove)", checker.NotApplicable},
		"nothing says what its effect is": {"    remove:", "    effects: [{name: lines, query: select count(*) from orders where note = :marker, value: 1}]\n    remove:", "(effects)", checker.NotApplicable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, result := run(t, c.old, c.new)
			require.Equal(t, c.verdict, result.Verdict, "%s", got)
			require.Contains(t, strings.Join(result.Reasons, "\n"), c.why, "%s", got)
		})
	}
}
