package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/doubletap-harness/doubletap/engine"
)

// progress shows how far a scenario is: a bar on a terminal, nothing elsewhere, where the line of
// each scenario tells enough. Nil shows nothing. Safe for concurrent use.
type progress struct {
	mu       sync.Mutex
	bar      *progressbar.ProgressBar
	label    string
	out      io.Writer
	terminal bool
	said     time.Time // when a line was told at times; at first, when it began
}

// toldEvery is how often a line says how far something is that takes long.
const toldEvery = 10 * time.Second

// newProgress returns a bar where out is a terminal, and lines elsewhere.
func newProgress(out io.Writer, label string) *progress {
	if isTerminal(out) {
		return &progress{label: label, out: fileOf(out), terminal: true} // the bar moves the cursor
	}
	return &progress{label: label, out: out, said: time.Now()}
}

// update shows that so many intents are done.
func (p *progress) update(done, of int) {
	if p == nil || !p.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar == nil {
		p.bar = progressbar.NewOptions(of,
			progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(p.label),
			progressbar.OptionSetWidth(30), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
		)
	}
	p.bar.Set(done)
}

// tell says on a line of its own how far it is, where there is no bar.
func (p *progress) tell(line string) {
	if !p.terminal {
		fmt.Fprintln(p.out, p.label+": "+line)
	}
}

// tellAtTimes is tell, where the last line was told a while ago.
func (p *progress) tellAtTimes(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.said) >= toldEvery {
		p.said = now
		p.tell(line)
	}
}

// done takes the bar away.
func (p *progress) done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
}

// wholeRun is how far a run is, of all its scenarios.
type wholeRun struct {
	intents        map[string]int // of each scenario that applies
	begun          time.Time
	started, ahead int // scenarios so far; intents of those that are over
	last           string
}

// announced notes how many intents each scenario will have. Those that do not apply have none.
func (w *wholeRun) announced(a engine.Announced) {
	w.intents = map[string]int{}
	for _, s := range a.Scenarios {
		if s.Intents > 0 {
			w.intents[s.Name] = s.Intents
		}
	}
}

// label names a scenario that begins, with its place in the run and the time that is left at the pace so far. One that is played once
// more has its name only.
func (w *wholeRun) label(name string, now time.Time) string {
	if w.started == 0 {
		w.begun = now
	}
	if w.started++; w.started > len(w.intents) {
		return name
	}
	w.ahead += w.intents[w.last]
	w.last = name
	text := fmt.Sprintf("%d/%d %s", w.started, len(w.intents), name)
	all := 0
	for _, n := range w.intents {
		all += n
	}
	if w.ahead > 0 {
		left := now.Sub(w.begun) * time.Duration(all-w.ahead) / time.Duration(w.ahead)
		text += ", about " + left.Round(time.Second).String() + " left"
	}
	return text
}
