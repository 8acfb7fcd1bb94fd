package reports_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/reports"
)

func TestEveryReportLinksAKnownBug(t *testing.T) {
	t.Parallel()
	all := renderers()
	all["html"], all["github"], all["gl.json"] = reports.HTML, github(nil), gitlab(nil)
	for name, f := range all {
		got := string(render(t, f, registered()))
		for _, link := range []string{"https://tracker.example.com/7", "https://tracker.example.com/8", "https://tracker.example.com/9"} {
			if (name == "github" || name == "gl.json") && strings.HasSuffix(link, "9") {
				continue // a warning, which is for people who read the report
			}
			require.Contains(t, strings.ReplaceAll(got, "&#58;", ":"), link, name)
		}
	}
}
