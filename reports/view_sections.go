package reports

import (
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
)

// section is what there is to know of the scenarios besides their findings, under one title.
type section struct {
	Title string
	Notes []note // by scenario
}

// The titles of the sections.
const (
	knownTitle      = "Known bugs"
	excusedTitle    = "Excused by the contract (no promise is broken)"
	warningTitle    = "Warnings (no promise is broken)"
	missingTitle    = "Reasons for the verdicts"
	burstTitle      = "Burst spread"
	queueTitle      = "Blocked writers"
	sweepTitle      = "Sweeps: answers to the second request, by its delay after the first"
	confidenceTitle = "Confidence of the passes"
)

// known lists the known findings.
func (v view) known() section {
	return v.section(knownTitle, func(s scenarioView) []string { return s.Known })
}

// excused lists the findings that the contract allows.
func (v view) excused() section {
	return v.section(excusedTitle, func(s scenarioView) []string { return s.Excused })
}

// measured lists how well bursts and sweeps did their work.
func (v view) measured() []section {
	return []section{
		v.Hunt,
		v.section(burstTitle, func(s scenarioView) []string { return []string{s.Bursts} }),
		v.section(queueTitle, func(s scenarioView) []string { return []string{s.WriteQueue} }),
		v.section(sweepTitle, func(s scenarioView) []string { return []string{s.Sweep} }),
	}
}

// undecidedView is why some scenarios, one or more, have no full judgement.
type undecidedView struct {
	Names, Word string
	Reasons     []string
	LeftOut     bool // they did not apply
}

// undecided lists the scenarios that have reasons for their verdict. Those with the same verdict and reasons stand together.
func (v view) undecided() []undecidedView {
	var all []undecidedView
	for _, s := range v.Scenarios {
		if len(s.Reasons) == 0 {
			continue
		}
		same := func(u undecidedView) bool { return u.Word == s.Verdict.Word && slices.Equal(u.Reasons, s.Reasons) }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Names += ", " + name(s.Name)
			continue
		}
		all = append(all, undecidedView{name(s.Name), s.Verdict.Word, s.Reasons, s.Result.Verdict == checker.NotApplicable})
	}
	return all
}

// section collects the texts of all scenarios that are not empty.
func (v view) section(title string, texts func(scenarioView) []string) section {
	s := section{Title: title}
	for _, scenario := range v.Scenarios {
		for _, text := range texts(scenario) {
			s.Notes = append(s.Notes, note{name(scenario.Name), text})
		}
	}
	s.Notes = present(s.Notes)
	return s
}
