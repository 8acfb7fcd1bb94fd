package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACellSaysNoMoreThanWhatWasShown(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]played{
		"yes":                                   {Broken: shown{Verdict: yes}, Twin: shown{Verdict: no}, Tries: 1},
		"yes, in 1 of 3":                        {Broken: shown{Verdict: yes}, Twin: shown{Verdict: no}, Tries: 3},
		"cannot":                                {Cannot: "a sink", Broken: shown{Verdict: unclear}, Twin: shown{Verdict: unclear}},
		"**false**: shown at the twin":          {Cannot: "a sink", Broken: shown{Verdict: yes}, Twin: shown{Verdict: yes}},
		"broken: shown, twin: inconclusive":     {Broken: shown{Verdict: yes}, Twin: shown{Verdict: unclear}},
		"broken: not shown":                     {Broken: shown{Verdict: no}, Twin: shown{Verdict: no}},
		"cannot (not run)":                      {Cannot: "a process", Broken: shown{Verdict: mistaken}, Twin: shown{Verdict: mistaken}},
		"broken: not played":                    {},
		"**false**: said that nothing happened": {Cannot: "a sink", Broken: shown{Verdict: no}, Twin: shown{Verdict: no}},
	} {
		require.Equal(t, want, p.cell())
	}
}
