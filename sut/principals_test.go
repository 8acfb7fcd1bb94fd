package sut_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
)

// TestTwoPrincipalsWithTheSameValuesAreAMistake holds that no run takes one user for two: what one is shown of the other would be a leak.
func TestTwoPrincipalsWithTheSameValuesAreAMistake(t *testing.T) {
	t.Parallel()
	system := func(principals map[string]targets.Principal) *sut.System {
		return &sut.System{Name: "shop.yaml", Target: targets.Target{Principals: principals}}
	}
	same := sut.Apart(system(map[string]targets.Principal{"acme": {"Token": "s3cret"}, "globex": {"Token": "s3cret"}}))
	require.EqualError(t, same, "shop.yaml: principals.globex has the same values as principals.acme: to the target both are one user. Give each credentials of its own, or leave one out")
	require.True(t, runerror.IsConfig(same))
	shared := system(map[string]targets.Principal{"acme": {"Token": "s3cret"}, "globex": {"Token": "s3cret"}})
	shared.Target.Contract.Scope.Principal = contract.ScopeShared
	require.NoError(t, sut.Apart(shared))
	for _, apart := range []map[string]targets.Principal{
		nil,
		{"acme": {"Token": "s3cret"}},
		{"acme": {"Token": "s3cret"}, "globex": {"Token": "other"}},
		{"acme": {"Token": "s3cret", "Tenant": "1"}, "globex": {"Token": "s3cret", "Tenant": "2"}},
		{"acme": {}, "globex": {}},
	} {
		require.NoError(t, sut.Apart(system(apart)), apart)
	}
}
