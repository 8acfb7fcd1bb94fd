package drafting

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMarkerWithinAName holds how a marker is written where a name or an address has a form: as a part of it, since a target may refuse what is
// none, and in a domain that nobody has.
func TestMarkerWithinAName(t *testing.T) {
	t.Parallel()
	for value, want := range map[[2]string]string{
		{"name", "example.org."}:               "dt.example.org.",
		{"name", "shop.example.com"}:           "dt.shop.example.com",
		{"name", "printer.test"}:               "dt.printer.test",
		{"mail_host", "lists.acme.io"}:         "dt.lists.acme.io",
		{"host", "localhost"}:                  "dt",
		{"name", "report.pdf"}:                 "dt",
		{"name", "ann.lee"}:                    "dt",
		{"note", "Bring a lamp. Thanks."}:      "dt",
		{"name", "Lamp."}:                      "dt",
		{"email", "ann@example.org"}:           "dt@example.org",
		{"email", "ann@mail.example.net"}:      "dt@mail.example.net",
		{"email", "ann@acme.io"}:               "dt@example.com",
		{"email", "ann@myexample.com"}:         "dt@example.com",
		{"email", "Ann Lee <ann@example.org>"}: "dt@example.com",
		{"handle", "@ann"}:                     "dt@example.com",
	} {
		d := Draft{Body: map[string]any{value[0]: value[1]}, Texts: []string{"/" + value[0]}}
		require.Equal(t, want, d.Marked("dt").Templates["/"+value[0]][:2]+d.Marked("dt").Templates["/"+value[0]][4:], "%s: %s", value[0], value[1])
	}
}
