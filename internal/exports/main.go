// Command exports plays every broken built-in design, shrinks its first finding, exports it as a shell script, a Go test and a
// scenario, and plays each export against the design and against its correct twin.
//
//	exports [-doubletap PROGRAM] [-database URL] [-folder bin/exports] [-parallel 2] [-anew] [-o PAGE] [DESIGN...]
//
// What has been played is in the folder, and is not played again: it goes on where it was left. With -anew the exports are made
// and played again, of the findings that are there.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/targets/orders"
)

// main hands an interrupt on. What was played until then is kept.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := play(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "exports:", err)
		os.Exit(2)
	}
}

// play plays the designs that are left, several at a time, and writes the page of all that were
// ever played.
func play(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("exports", flag.ContinueOnError)
	program := flags.String("doubletap", "bin/doubletap", "the command that plays")
	database := flags.String("database", "", "URL of the database; empty: SQLite files")
	store := flags.String("store", "", "URL of a Redis server; empty: designs that take one are left out")
	folder := flags.String("folder", "bin/exports", "where findings and results are kept")
	budget := flags.Duration("budget", 30*time.Second, "how long each finding is shrunk")
	parallel := flags.Int("parallel", 2, "how many designs at once")
	anew := flags.Bool("anew", false, "make and play the exports again")
	page := flags.String("o", "", "the page to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	p := player{database: *database, store: *store, budget: *budget}
	var err error
	if p.program, err = filepath.Abs(*program); err != nil {
		return err
	}
	if p.folder, err = filepath.Abs(*folder); err != nil {
		return err
	}
	var mu sync.Mutex
	var failed error
	var playing sync.WaitGroup
	slots := make(chan struct{}, *parallel)
	for _, d := range p.designs(flags.Args()) {
		had, err := p.read(d)
		if err != nil {
			return err
		}
		if had != nil && !*anew {
			continue
		}
		slots <- struct{}{}
		playing.Go(func() {
			defer func() { <-slots }()
			r, err := p.play(ctx, d)
			if err == nil {
				err = p.write(r)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", d.Name, err))
				return
			}
			fmt.Fprintln(out, r.row())
		})
	}
	playing.Wait()
	if failed != nil || *page == "" {
		return failed
	}
	var all []result
	for _, d := range p.designs(nil) {
		r, err := p.read(d)
		if err != nil {
			return err
		}
		if r != nil {
			all = append(all, *r)
		}
	}
	return os.WriteFile(*page, []byte(document(all, p.dialect())), 0o644)
}

// designs are the broken ones that stand on the database, or those among them that are named.
func (p player) designs(named []string) []orders.Design {
	return slices.DeleteFunc(orders.Designs(), func(d orders.Design) bool {
		return d.Correct || !d.StandsOn(p.dialect()) || d.Redis && p.store == "" || len(named) > 0 && !slices.Contains(named, d.Name)
	})
}

// read returns what was played of a design; nil: nothing.
func (p player) read(d orders.Design) (*result, error) {
	text, err := os.ReadFile(p.resultOf(d.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r result
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return &r, err
}

// write keeps what was played of a design.
func (p player) write(r result) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(p.resultOf(r.Design), text, 0o644)
}

// resultOf is the file that keeps it.
func (p player) resultOf(design string) string { return filepath.Join(p.folder, design, "result.json") }
