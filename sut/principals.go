package sut

import (
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// Apart returns a [runerror.ConfigError] where two principals say the same of themselves. To the target they are one user, so that what one of them
// is shown of the other would look like a leak, unless the contract lets them share. A file may be read with such values, as where no secrets
// are; no run can use them.
func Apart(s *System) error {
	if s.Target.Contract.Scope.Principal == contract.ScopeShared {
		return nil
	}
	all := s.Target.Principals
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		for _, other := range names[:i] {
			if len(all[name]) > 0 && maps.Equal(all[name], all[other]) {
				return runerror.Configf("%s: principals.%s has the same values as principals.%s: to the target both are one user. Give each credentials of its own, or leave one out", s.Name, name, other)
			}
		}
	}
	return nil
}
