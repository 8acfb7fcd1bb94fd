package drafting

import (
	"strings"
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
		{"name", "web1.acme.io"}:               "dt.web1.acme.io",
		{"url", "https://acme.io"}:             "https://acme.io/dt",
		{"url", "https://acme.io/hooks/"}:      "https://acme.io/hooks/dt",
		{"url", "http://acme.io/in?a=b#c"}:     "http://acme.io/in/dt?a=b#c",
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
		require.Equal(t, want, strings.Replace(d.Marked("dt").Templates["/"+value[0]], "dtx0", "dt", 1), "%s: %s", value[0], value[1])
	}
}

// TestALinkCarriesTheMarkerWhereNothingElseDoes holds that of a body that has a link and words of a list, the link is tried first, and that
// the name of a host is known by the path.
func TestALinkCarriesTheMarkerWhereNothingElseDoes(t *testing.T) {
	t.Parallel()
	d := Draft{Path: "/hooks", Body: map[string]any{"target": "https://acme.io/in", "events": []any{"order.created"}, "mode": "daily"}}
	d.GuessTexts()
	require.Equal(t, []string{"/target"}, d.Texts)
	d = Draft{Path: "/hooks", Body: map[string]any{"note": "x", "target": "https://acme.io/in"}, Texts: []string{"/note"}}
	require.Contains(t, d.Carrying(), "/target", "where the other text is refused")
	d = Draft{Path: "/zones", Body: map[string]any{"name": "acme.io"}, Texts: []string{"/name"}}
	require.Equal(t, "dtx0.acme.io", d.Marked("dt").Templates["/name"])
	d.Path = "/people"
	require.Equal(t, "dtx0", d.Marked("dt").Templates["/name"])
}
