package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// table is the outcome of a mutation test.
type table struct {
	fates    []fate
	excluded map[string]string // equivalent mutants: rule and reason
	stale    []string          // excluded rules that are no rules
}

// stale lists the excluded rules that no mutant has.
func stale(excluded map[string]string, all []mutant) []string {
	rest := maps.Clone(excluded)
	for _, m := range all {
		delete(rest, m.rule())
	}
	return slices.Sorted(maps.Keys(rest))
}

// ending says in words what became of a mutant.
func (t table) ending(f fate) string {
	reason, excluded := t.excluded[f.rule()]
	switch {
	case f.broken != "":
		return "not a program: " + f.broken
	case f.by != "":
		return "killed by " + f.by
	case excluded:
		return "equivalent: " + reason
	default:
		return "SURVIVED"
	}
}

// write writes a line for each mutant, and once more those that matter.
func (t table) write(out io.Writer) {
	columns := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, f := range t.fates {
		fmt.Fprintf(columns, "%s:%d\t%s\t%s\n", filepath.Base(f.path), f.line, shorten(f.rule()), t.ending(f))
	}
	columns.Flush()
	for _, f := range t.survivors() {
		fmt.Fprintf(out, "survived: %s\n", f.mutant)
	}
	for _, rule := range t.stale {
		fmt.Fprintf(out, "no such rule any more, take it out of the equivalents: %s\n", rule)
	}
}

// shorten keeps a line of the table readable.
func shorten(text string) string {
	const most = 100
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "..."
	}
	return text
}

// survivors are the mutants that no test noticed: either a test is missing, or the code makes no
// difference and is to go.
func (t table) survivors() []fate {
	return slices.DeleteFunc(slices.Clone(t.fates), func(f fate) bool { return t.ending(f) != "SURVIVED" })
}

// bad reports that something is left to do.
func (t table) bad() bool { return len(t.survivors()) > 0 || len(t.stale) > 0 }

// summary is the last line.
func (t table) summary() string {
	of := func(prefix string) int {
		n := 0
		for _, f := range t.fates {
			if strings.HasPrefix(t.ending(f), prefix) {
				n++
			}
		}
		return n
	}
	return fmt.Sprintf("%d mutants: %d killed, %d survived, %d equivalent, %d not a program",
		len(t.fates), of("killed"), of("SURVIVED"), of("equivalent"), of("not a program"))
}
