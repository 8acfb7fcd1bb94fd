package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASignalIsWorseThanAnyVerdictOfAnOperation(t *testing.T) {
	worst := severity(exit{code: exitFinding})
	for _, code := range []int{exitPass, exitFixed, exitInconclusive, exitEnvironment, exitConfig} {
		require.Less(t, severity(exit{code: code}), worst, "exit %d", code)
	}
	for _, code := range []int{exitHungUp, exitInterrupted, exitQuit, exitTerminated} {
		require.Greater(t, severity(exit{code: code}), worst, "exit %d", code)
	}
}
