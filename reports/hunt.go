package reports

import (
	"fmt"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
)

const huntTitle = "Hunt: rounds of each scenario"

// huntSentence says what a hunt has come to. It is empty for other runs.
func huntSentence(h *checker.Hunt) string {
	if h == nil {
		return ""
	}
	rounds := fmt.Sprintf("%s in %s (%s)", english.Plural(h.Rounds, "exercised round"), h.Took.Duration().Round(100*time.Millisecond), aSecond(h.Rounds, h.Took.Duration()))
	if h.Ended == checker.HuntFound {
		return "The hunt ended with the first finding, after " + rounds + "."
	}
	text := "The hunt found nothing new in " + rounds
	if h.Rounds > 3 {
		text += fmt.Sprintf(": with 95%% confidence, less than %s of such rounds fail", percent(h.Bound()))
	}
	text += ". " + map[checker.HuntEnd]string{
		checker.HuntBound:       "That is the bound that was asked for.",
		checker.HuntTime:        "The time for it was over.",
		checker.HuntRequests:    "It sent as many requests as it may (--max-requests).",
		checker.HuntInterrupted: "It was interrupted.",
		checker.HuntStopped:     "It could not go on.",
	}[h.Ended]
	if !h.Reached() {
		text += fmt.Sprintf(" The bound that was asked for, %s, is not reached.", percent(h.Until))
	}
	return text
}

// aSecond is a number of rounds in a second.
func aSecond(rounds int, took time.Duration) string {
	return fmt.Sprintf("%.3g a second", float64(rounds)/max(took.Seconds(), 1e-3))
}

// hunted lists what a hunt sent, and how often.
func hunted(h *checker.Hunt) section {
	s := section{Title: huntTitle}
	if h == nil {
		return s
	}
	for _, a := range h.Arms {
		if a.Rounds == 0 {
			s.Notes = append(s.Notes, note{name(a.Scenario), "no round was exercised in " + english.Plural(a.Batches, "batch", "batches")})
			continue
		}
		s.Notes = append(s.Notes, note{name(a.Scenario), fmt.Sprintf("%s in %s (%s), signs of trouble %.2f",
			english.Plural(a.Rounds, "round"), a.Took.Duration().Round(100*time.Millisecond), aSecond(a.Rounds, a.Took.Duration()), a.Signs)})
	}
	return s
}
