package contract_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
)

func TestADurationIsNotNegative(t *testing.T) {
	t.Parallel()
	d, err := contract.ParseDuration("1m300ms")
	require.NoError(t, err)
	require.Equal(t, time.Minute+300*time.Millisecond, d)
	for _, text := range []string{"-1s", "+1s", "5", "", "99999999999h", "1 s"} {
		_, err := contract.ParseDuration(text)
		require.ErrorIs(t, err, contract.ErrDuration, text)
	}
}
