package cmd

import (
	"io"
	"os"
	"sync"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

// progress shows how far a scenario is: a bar on a terminal, nothing elsewhere, where the line of
// each scenario tells enough. Safe for concurrent use.
type progress struct {
	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	label string
	out   *os.File // nil: not a terminal
}

func newProgress(out io.Writer, label string) *progress {
	p := &progress{label: label}
	if file, ok := out.(*os.File); ok && isatty.IsTerminal(file.Fd()) {
		p.out = file
	}
	return p
}

// update shows that so many intents are done.
func (p *progress) update(done, of int) {
	if p.out == nil {
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

// done takes the bar away.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
}
