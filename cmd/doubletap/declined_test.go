package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of a target that declines every fifth create, or answers it 502, most pilots meet one. A sweep has 60 creates: that none of
// them is among the fifth happens in one of half a million.
func TestDeclinesAndFailuresNowAndThenAreNoNews(t *testing.T) {
	t.Parallel()
	for target, code := range map[string]int{
		"declines-some": exitPass, "fails-now-and-then": exitPass, "decline-retried-charges": exitFinding, "fails-after-order": exitFinding,
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			got := callWith(t.Context(), nil, "run", "--target", "builtin:"+target, "--seed", "1", "--reports", t.TempDir(), "sequential-replay", "sweep")
			require.Equal(t, code, got.code, "%s", got)
		})
	}
}

func TestATargetThatDeclinesEverythingIsToldSo(t *testing.T) {
	t.Parallel()
	x := newShop(t, answering(402, "application/json", `{"error":"declined"}`)).trial(t)
	x.file = shopFile + "contract: {errors: {declined: {statuses: [402]}}}\n"
	got := x.run(t)
	require.Equal(t, exitConfig, got.code)
	require.Contains(t, got.err, "contract.errors.declined")
	require.Contains(t, got.err, "all of 10 tries")
}
