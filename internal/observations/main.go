// Command observations writes what broken designs showed into the examples of package diagnosis:
//
//	observations MATRIX.json... > diagnosis/observations.json.gz
//
// The matrices are those that `doubletap matrix -o` writes. Of each design on each database, the first cause with its lowest seed
// counts. What the matrices do not have stays as the package knows it.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/doubletap-harness/doubletap/diagnosis"
	"github.com/doubletap-harness/doubletap/reports"
)

// main writes to standard output only when all matrices could be read.
func main() {
	text, err := collect(os.Args[1:])
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "observations:", err)
		os.Exit(1)
	}
}

// collect reads matrices and returns their observations, one in a line, packed.
func collect(files []string) ([]byte, error) {
	var all []diagnosis.Observed
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var m reports.Matrix
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, row := range m.Rows {
			if o, has := observed(row); has {
				all = append(all, o)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no matrix has a broken design that showed something")
	}
	for _, o := range diagnosis.Observations() {
		if defect, has := defectOf(o.Design); has && !slices.ContainsFunc(all, func(n diagnosis.Observed) bool { return n.Design == o.Design && n.Store == o.Store }) {
			o.Defect = defect
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b diagnosis.Observed) int {
		return cmp.Or(cmp.Compare(a.Defect, b.Defect), cmp.Compare(a.Design, b.Design), cmp.Compare(a.Store, b.Store))
	})
	var text, packed bytes.Buffer
	for i, o := range all {
		line, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		text.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		text.Write(line)
	}
	text.WriteString("\n]\n")
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = text.WriteTo(z)
	}
	if err == nil {
		err = z.Close()
	}
	return packed.Bytes(), err
}

// observed is what a row showed with its lowest seed, and whether it is a broken built-in design that showed something.
func observed(row reports.MatrixRow) (diagnosis.Observed, bool) {
	defect, has := defectOf(row.Target)
	played := slices.SortedFunc(slices.Values(row.Played), func(a, b reports.MatrixSeed) int { return cmp.Compare(a.Seed, b.Seed) })
	if !has || len(played) == 0 || played[0].Pattern == nil {
		return diagnosis.Observed{}, false
	}
	return diagnosis.Observed{Design: row.Target, Store: row.Store, Defect: defect, Pattern: *played[0].Pattern}, true
}

// defectOf names the defect of a built-in broken design.
func defectOf(design string) (string, bool) {
	at := slices.IndexFunc(diagnosis.Defects(), func(d diagnosis.Defect) bool { return slices.Contains(d.Designs, design) })
	if at < 0 {
		return "", false
	}
	return diagnosis.Defects()[at].Name, true
}
