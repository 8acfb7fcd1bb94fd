package sut

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/sut/services"
)

func TestTheProcessLogHoldsNothingThatHasBecomeASecret(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), ProcessLogName))
	require.NoError(t, err)
	p := Process{log: file, printed: []*services.Log{services.NewLog(file, nil)}}
	_, _ = p.printed[0].Write([]byte("alice gets tok-alice-1\n"))
	p.Hide([]string{"tok-alice-1"})
	_, _ = p.printed[0].Write([]byte("tok-alice-1 comes, 17 rows\n"))
	require.NotContains(t, p.printed[0].String(), "tok-alice-1")
	require.NoError(t, p.closeLog())
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	require.Equal(t, "alice gets ***\n*** comes, 17 rows\n", string(text))
}
