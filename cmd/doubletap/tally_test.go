package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
)

// A rate is one of the tries that were exercised, and the sentence says of how many.
func TestATallyCountsWhatWasExercised(t *testing.T) {
	t.Parallel()
	all := tally{kind: checker.Duplicate, reproduced: 3, clean: 14}
	require.Regexp(t, `^reproduced: duplicate in 3 of 17 tries \(18%`, all.String())
	some := tally{kind: checker.Duplicate, reproduced: 3, clean: 14, unexercised: 3}
	require.Regexp(t, `^reproduced: duplicate in 3 of 17 exercised \(20 tries\) \(18%`, some.String())
}
