package reports

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
		v.section(burstTitle, func(s scenarioView) []string { return []string{s.Bursts} }),
		v.section(queueTitle, func(s scenarioView) []string { return []string{s.WriteQueue} }),
		v.section(sweepTitle, func(s scenarioView) []string { return []string{s.Sweep} }),
	}
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
