package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/sut"
)

// What a plain create makes, or not, is a finding, unless the database shows that the row query is wrong.
func TestPlainCreatesThatMakeTwoRowsOrNone(t *testing.T) {
	t.Parallel()
	for _, on := range stores() {
		for design, c := range map[string]struct {
			kind checker.Kind
			said string
		}{
			"plain-create-twice":  {checker.Duplicate, "one plain create of the pilot made 2 rows with its marker (orders.note), unless operations.create_order.rows.query"},
			"create-never-stored": {checker.LostWrite, "its marker is nowhere in the database"},
		} {
			t.Run(design+" on "+on.name, func(t *testing.T) {
				t.Parallel()
				x := trial{reports: t.TempDir()}
				got := callWith(t.Context(), nil, append([]string{"run", "--target", sut.BuiltinPrefix + design, "--seed", "1", "--reports", x.reports, "sequential-replay", "plain-create"}, on.flag()...)...)
				require.Equal(t, exitFinding, got.code, "%s", got)
				require.Len(t, regexp.MustCompile(`(?m)^. sequential-replay `).FindAllString(got.out, -1), 1, "one line each: %s", got)
				x.checked(t, got)
				report := onlyReport(t, x.reports)
				left, control := report.Results[0], report.Results[1]
				require.Equal(t, checker.Fail, control.Verdict)
				require.Equal(t, c.kind, control.Findings[0].Kind)
				require.Contains(t, strings.Join(control.Reasons, "\n"), c.said)
				require.Equal(t, checker.Inconclusive, left.Verdict)
				require.Equal(t, []string{"it was not run: what a plain create does is in doubt, see plain-create"}, left.Reasons)
			})
		}
	}
}

func TestADoubtAboutPlainCreatesIsSaidWithoutTheControl(t *testing.T) {
	t.Parallel()
	x := newShop(t, answeredWithoutARow).trial(t, "sequential-replay")
	got := x.run(t)
	require.Equal(t, exitFinding, got.code, "%s", got)
	result := onlyReport(t, x.reports).Results[0]
	require.Equal(t, checker.LostWrite, result.Findings[0].Kind)
	require.Contains(t, strings.Join(result.Reasons, "\n"), "the target made nothing, unless database.url of")
	x.examined(t, exitFinding, "✗ plain create a plain create of the pilot was acknowledged, and its marker is nowhere in the database")
}

// answeredWithoutARow is a shop that acknowledges and stores nothing.
func answeredWithoutARow(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"id":1}`))
	})
}
