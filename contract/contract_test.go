package contract_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
)

func TestAPauseEndsWhileKeysMustBeKnown(t *testing.T) {
	t.Parallel()
	promised := func(after time.Duration) contract.Contract {
		return contract.Contract{Expiry: contract.Expiry{After: contract.Duration(after)}}
	}
	natural := promised(8 * time.Second)
	natural.NaturalKey = []string{"/number"}
	for name, c := range map[string]struct {
		promise           contract.Contract
		pause, used, want time.Duration
	}{
		"no promise":                        {promised(0), time.Hour, 0, time.Hour},
		"a short pause":                     {promised(8 * time.Second), time.Second, time.Second, time.Second},
		"a third is left":                   {promised(8 * time.Second), time.Minute, 0, 5 * time.Second},
		"what has passed":                   {promised(8 * time.Second), time.Minute, 2 * time.Second, 3 * time.Second},
		"five seconds are enough":           {promised(40 * time.Second), time.Minute, time.Second, 34 * time.Second},
		"too late":                          {promised(8 * time.Second), time.Minute, 7 * time.Second, -2 * time.Second},
		"a natural key, which never passes": {natural, time.Minute, 0, time.Minute},
	} {
		require.Equal(t, c.want, c.promise.StillKnown(c.pause, c.used), name)
	}
}
