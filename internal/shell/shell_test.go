package shell_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/shell"
)

func TestAShellTakesAQuotedTextAsOneWord(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "orders.yaml", "it's", "$(touch x)", "`id`", "a b\tc\nd", `\`, `"`, "'; exit 7; '", "~", "*", "#x", "-n"} {
		out, err := exec.Command("sh", "-c", "printf '%s|' "+shell.Quote(text)).CombinedOutput()
		require.NoError(t, err, text)
		require.Equal(t, text+"|", string(out), text)
	}
	require.Equal(t, "reports/runs/a-b", shell.Quote("reports/runs/a-b"), "what needs no quotes has none")
}
