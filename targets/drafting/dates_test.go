package drafting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestADateThatCreatesMoveOnIsANumber holds that a date of a row that creates have in common is a number of days, or of months where these have as many
// days as they happen to have; of two creates it is not known which, and when something was is none.
func TestADateThatCreatesMoveOnIsANumber(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		column string
		dates  []string
		want   []string
	}{
		"a day each":       {"paid_until", []string{"2027-01-30", "2027-01-31", "2027-02-01", "2027-02-02"}, []string{"paid_until in days"}},
		"30 days each":     {"valid_to", []string{"2027-01-15", "2027-02-14", "2027-03-16", "2027-04-15"}, []string{"valid_to in days"}},
		"a month each":     {"expires_at", []string{"2027-06-30 10:00:00", "2027-07-30 10:00:00", "2027-08-30 10:00:00", "2027-09-30 10:00:00"}, []string{"expires_at in months"}},
		"at a month's end": {"paid_until", []string{"2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30"}, []string{"paid_until in months"}},
		"25 hours each":    {"due_at", []string{"2027-01-30 10:00:00", "2027-01-31 11:00:00", "2027-02-01 12:00:00", "2027-02-02 13:00:00"}, nil},
		"a twelfth each":   {"due", []string{"2027-01-05", "2027-02-04", "2027-03-06", "2027-04-06"}, nil},
		"of two creates":   {"paid_until", []string{"2027-07-31", "2027-08-31"}, []string{"paid_until in days", "paid_until in months"}},
		"called a date":    {"billing_date", []string{"2027-01-15", "2027-02-15", "2027-03-15", "2027-04-15"}, []string{"billing_date in months"}},
		"when it was seen": {"seen_at", []string{"2027-01-30 10:00:00", "2027-01-30 10:00:01", "2027-01-30 10:00:01", "2027-01-30 10:00:03"}, nil},
		"at midnight":      {"seen_at", []string{"2027-01-30 23:59:58", "2027-01-30 23:59:59", "2027-01-31 00:00:00", "2027-01-31 00:00:01"}, nil},
		"of the day":       {"last_order_date", []string{"2027-01-30", "2027-01-30", "2027-01-31", "2027-01-31"}, nil},
		"none":             {"paid_until", []string{"never", "never", "never", "never"}, nil},
	} {
		of := databases.Table{Name: "subscriptions", Primary: []string{"id"}, Columns: []databases.Column{{Name: "id", Type: "text"}, {Name: c.column, Type: "timestamp"}}}
		b := Book{Of: of, Key: "id", Value: "s-1", Entries: databases.Table{Name: "renewals"}, By: "subscription_id"}
		var postings []Posting
		for n, date := range c.dates[1:] {
			standing := func(date string) Standing { return StandingIn(b, map[string]string{"id": "s-1", c.column: date}) }
			postings = append(postings, Posting{Before: standing(c.dates[n]), After: standing(date), Entry: Entry{Rows: 1}})
		}
		require.Equal(t, c.want, Changing(postings), name)
	}
}

// TestHowADateIsANumberInAQuery holds how each database is asked for the days and months of a date.
func TestHowADateIsANumberInAQuery(t *testing.T) {
	t.Parallel()
	require.Equal(t, "(cast(s.until as date) - date '1970-01-01')", numberIn(databases.PostgreSQL, "s", "until in days"))
	require.Equal(t, "period_diff(extract(year_month from s.until), 190001)", numberIn(databases.MariaDB, "s", "until in months"))
	require.Equal(t, "(strftime('%Y', s.until) * 12 + strftime('%m', s.until))", numberIn(databases.SQLite, "s", "until in months"))
	require.Equal(t, "s.cents", numberIn(databases.SQLite, "s", "cents"))
}
