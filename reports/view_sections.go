package reports

// section is what there is to know of the scenarios besides their findings, under one title.
type section struct {
	Title string
	Notes []note // by scenario
}

// The titles of the sections.
const (
	knownTitle      = "What is known, and where it is told"
	warningTitle    = "Warnings (no promise is broken)"
	missingTitle    = "What was not shown, and why"
	burstTitle      = "How tight the bursts were"
	queueTitle      = "Who stood in line to write"
	sweepTitle      = "What the sweeps saw, by the time after the first request"
	confidenceTitle = "What the passes are worth"
)

// known lists the known findings.
func (v view) known() section {
	return v.section(knownTitle, func(s scenarioView) []string { return s.Known })
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
