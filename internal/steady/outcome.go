package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// outcome is what became of one run.
type outcome struct {
	failed   error // of the command; nil: it exited with 0
	took     time.Duration
	red      []string // tests, and packages that failed outside of a test
	packages []timed
}

// timed is a package and what its tests took.
type timed struct {
	name string
	took time.Duration
}

func (o outcome) green() bool { return o.failed == nil && len(o.red) == 0 }

// event is a line of go test -json.
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64 // seconds
}

// readEvents reads the events of one run. Lines that are none, such as those of make, are left out.
func readEvents(in io.Reader) outcome {
	var o outcome
	failed := map[string][]string{} // tests by package
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			o.take(e, failed)
		}
		if err != nil {
			break
		}
	}
	slices.SortStableFunc(o.packages, func(a, b timed) int { return cmp.Compare(b.took, a.took) })
	return o
}

// take notes one event. A test that failed only because a part of it did is not named.
func (o *outcome) take(e event, failed map[string][]string) {
	switch {
	case e.Test != "" && e.Action == "fail":
		part := func(name string) bool { return strings.HasPrefix(name, e.Test+"/") }
		if !slices.ContainsFunc(failed[e.Package], part) {
			o.red = append(o.red, path.Base(e.Package)+"."+e.Test)
		}
		failed[e.Package] = append(failed[e.Package], e.Test)
	case e.Test == "" && (e.Action == "pass" || e.Action == "fail"):
		o.packages = append(o.packages, timed{e.Package, time.Duration(e.Elapsed * float64(time.Second))})
		if e.Action == "fail" && len(failed[e.Package]) == 0 {
			o.red = append(o.red, e.Package)
		}
	}
}

const heading = "| run | load | minutes | result | red | slowest packages |\n|---|---|---|---|---|---|\n"

// mostPackages is how many packages a line names.
const mostPackages = 3

// line is the run's row of the table.
func (o outcome) line(n, load int) string {
	result := "green"
	if !o.green() {
		result = "RED"
	}
	red := strings.Join(o.red, " ")
	if red == "" && o.failed != nil {
		red = o.failed.Error()
	}
	var slow []string
	for _, p := range o.packages[:min(len(o.packages), mostPackages)] {
		slow = append(slow, fmt.Sprintf("%s %.0f s", path.Base(p.name), p.took.Seconds()))
	}
	return fmt.Sprintf("| %d | %d | %.1f | %s | %s | %s |\n", n, load, o.took.Minutes(), result, red, strings.Join(slow, ", "))
}
