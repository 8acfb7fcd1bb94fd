package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFormTokenThatIsTakenInOnePiecePasses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	got := o.trial(t, formFile).run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	t.Log(got)
}
