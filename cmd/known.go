package cmd

import (
	"os"
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// readRegister reads the register of known bugs, if there is one.
func readRegister(path string) (scenarios.Register, error) {
	if path == "" {
		return nil, nil
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, mistake(describeMissing("register of known bugs", path, err))
	}
	register, err := scenarios.LoadRegister(path, source)
	if err != nil {
		return nil, mistake(err)
	}
	return register, nil
}

// knownBugs are those that a scenario's file and the register tell of. A replay is an experiment, which
// expects nothing.
func (o runOptions) knownBugs(s scenarios.Scenario) []checker.KnownBug {
	if o.finding != "" {
		return nil
	}
	var bugs []checker.KnownBug
	for _, k := range slices.Concat(s.Known, o.register[s.Name]) {
		bugs = append(bugs, checker.KnownBug{Expect: checker.Kind(k.Expect), Detail: k.Detail, Link: k.Link})
	}
	return bugs
}
