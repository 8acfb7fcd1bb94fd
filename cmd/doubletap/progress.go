package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

// progress shows how far a scenario is: a bar on a terminal, nothing elsewhere, where the line of
// each scenario tells enough. Nil shows nothing. Safe for concurrent use.
type progress struct {
	mu       sync.Mutex
	bar      *progressbar.ProgressBar
	label    string
	out      io.Writer
	terminal bool
}

func newProgress(out io.Writer, label string) *progress {
	file, ok := out.(*os.File)
	return &progress{label: label, out: out, terminal: ok && isatty.IsTerminal(file.Fd())}
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
