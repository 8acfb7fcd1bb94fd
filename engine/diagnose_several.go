package engine

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/snapshots"
)

// several are plain creates of one operation that were done. Each was sent once, one after the other: what all of them show
// has nothing to do with repetitions.
type several struct {
	create                                 // the first
	intents  []history.Intent              // two at least
	attempts []history.Attempt             // of the intents, by index
	rows     [][]history.Row               // of the intents, by index
	grown    map[string]int                // by how many rows the tables of the query have grown meanwhile; nil: it was not asked
	findings map[string]checker.Difference // of the intents that were told a name which is not their row's
	history  *history.History
}

// diagnoseSeveral says which mistake in the target file shows in several plain creates. In one alone, it could be the
// target's as well, and it is not said what several show differently.
func diagnoseSeveral(ctx context.Context, s *Session, h *history.History, judged checker.Result, grown map[string]int) error {
	if h.T1 == nil {
		return nil
	}
	for _, o := range s.System.Operations {
		all := several{grown: grown, findings: map[string]checker.Difference{}, history: h}
		for i, a := range h.Attempts {
			of := h.Intents[i]
			of.Operation = createOf(of, a)[1]
			if s.System.OperationOf(of).Name == o.Name {
				all.intents, all.attempts = append(all.intents, of), append(all.attempts, a)
				all.rows = append(all.rows, h.T1.Rows[of.Bodies[history.Original].Marker])
			}
		}
		if len(all.intents) < 2 {
			continue
		}
		all.create = s.create(all.intents[0])
		for _, f := range judged.Findings {
			if f.Kind == checker.ReplayMismatch && f.Detail == "identity" && len(f.Differs) > 0 {
				all.findings[f.Intent] = f.Differs[0]
			}
		}
		for _, diagnose := range []func(context.Context) error{all.diagnoseNames, all.diagnoseOneName, all.diagnoseParts, all.diagnoseGrown, all.diagnoseTotals} {
			if err := diagnose(ctx); err != nil {
				return runerror.Config(err)
			}
		}
	}
	return nil
}

// file is the name of the target file.
func (s several) file() string { return s.session.System.Name }

// each names the creates.
func (s several) each() string {
	return fmt.Sprintf("each of %d plain creates, sent once and one after the other,", len(s.intents))
}

// diagnoseNames says that all answers name what is not their row, and that it is the same for all of them, or stands somewhere else in rows with
// their markers: then it is the file that takes one member or column for another, or a line of a log for the created thing. Names that differ
// and stand nowhere are the target's matter.
func (s several) diagnoseNames(ctx context.Context) error {
	if s.session.System.Rows == nil {
		return nil
	}
	differ := false
	first, name := s.findings[s.intents[0].ID], s.operation.Name
	for _, i := range s.intents {
		told, is := s.findings[i.ID]
		if !is {
			return nil
		}
		differ = differ || told.Then != first.Then
	}
	also := "It is the same for all of them. "
	if differ {
		elsewhere := s.namedElsewhere(ctx)
		if len(elsewhere) == 0 {
			return nil
		}
		also = "What it was told stands in " + english.List(elsewhere, "and") + ". "
	}
	return fmt.Errorf("%s was told the name of something that is not its row: the first was told %q at %s, and operations.%s.rows of %s finds %s with %s in %s. %sLet operations.%s.identity be what names the created thing, and rows.query and rows.identity find that thing; unless the target names what it did not make",
		s.each(), first.Then, first.Where, name, s.file(), english.Plural(len(s.rows[0]), "row"), first.First, s.operation.Rows.Identity, also, name)
}

// namedElsewhere are the columns in which the name that each create was told stands, in rows with its marker.
func (s several) namedElsewhere(ctx context.Context) (columns []string) {
	for n, i := range s.intents {
		found, _, err := s.session.System.Rows.Search(ctx, i.Bodies[history.Original].Marker)
		if err != nil {
			return nil
		}
		holding := columnsWith(found, s.findings[i.ID].Then)
		if n == 0 {
			columns = holding
		}
		if columns = slices.DeleteFunc(columns, func(column string) bool { return !slices.Contains(holding, column) }); len(columns) == 0 {
			return nil
		}
	}
	return columns
}

// columnsWith are the columns of places in which a value stands.
func columnsWith(found []snapshots.Place, value string) (columns []string) {
	for _, p := range found {
		for _, row := range p.Held {
			for column, held := range row {
				if at := p.Table + "." + column; held == value && !slices.Contains(columns, at) {
					columns = append(columns, at)
				}
			}
		}
	}
	slices.Sort(columns)
	return columns
}

// diagnoseOneName says that what the file takes for the name of a row is the same for all creates, in their rows, where whatever an
// answer named would fit, or in their answers, where rows have no name to compare with. Numbers may begin anew under each parent that is
// prepared, and for each principal.
func (s several) diagnoseOneName(context.Context) error {
	o, column := s.operation, s.operation.Rows.Identity
	if o.Rows.Adds != "" || !o.Identity.Declared() || len(o.Prepare) > 0 {
		return nil
	}
	var told []string
	for n, i := range s.intents {
		if len(s.rows[n]) == 0 || i.Principal != s.intents[0].Principal {
			return nil
		}
		if column == "" {
			told = append(told, s.session.System.Terms().Named(o.Name, s.attempts[n]))
			continue
		}
		for _, row := range s.rows[n] {
			if row[column] == nil {
				return nil
			}
			told = append(told, fmt.Sprint(row[column]))
		}
	}
	switch told = slices.Compact(told); {
	case len(told) > 1 || told[0] == "":
		return nil
	case column == "":
		return fmt.Errorf("%s has a row of its own, and was told %q at %s as the name of it: operations.%s.identity of %s has to be what tells created things apart, and is left out where no answer does; unless the target names one for the other",
			s.each(), told[0], o.Identity, o.Name, s.file())
	}
	return fmt.Errorf("%s has a row of its own, and all of them have %s in %s: operations.%s.rows.identity of %s has to be a column that tells created things apart, and operations.%s.identity what names it in the answer; where no answer does, leave both out",
		s.each(), told[0], column, o.Name, s.file(), o.Name)
}

// diagnoseParts says that the rows of each create differ alike, as the steps of a history do. What makes a row twice makes
// rows that differ in nothing but what is another one in each row.
func (s several) diagnoseParts(ctx context.Context) error {
	if s.session.System.Rows == nil {
		return nil
	}
	var parts map[string][]string // the values of each column, in order; those of columns that differ elsewhere are left out
	for n, i := range s.intents {
		if len(s.rows[n]) < 2 || len(s.rows[n]) != len(s.rows[0]) {
			return nil
		}
		found, _, err := s.session.System.Rows.Search(ctx, i.Bodies[history.Original].Marker)
		if err != nil {
			return nil
		}
		of := map[string][]string{}
		for _, p := range slices.DeleteFunc(found, func(p snapshots.Place) bool { return !names(s.operation.Rows.Query, p.Table) }) {
			maps.Copy(of, differing(p))
		}
		if n == 0 {
			parts = of
		}
		maps.DeleteFunc(parts, func(column string, values []string) bool { return !slices.Equal(values, of[column]) })
	}
	for _, column := range slices.Sorted(maps.Keys(parts)) {
		return fmt.Errorf("operations.%s.rows.query of %s finds %d rows for %s and each time they differ in %s alike (%s): either the query counts rows that are not the created thing, as those of a history are, and has to find the one that is, or the target makes %d for one request",
			s.operation.Name, s.file(), len(s.rows[0]), s.each(), column, shownValues(parts[column]), len(s.rows[0]))
	}
	return nil
}

// differing are the columns in which the rows of a place have two values at least, with their values in order.
func differing(p snapshots.Place) map[string][]string {
	all := map[string][]string{}
	for _, row := range p.Held {
		for column, value := range row {
			all[p.Table+"."+column] = append(all[p.Table+"."+column], value)
		}
	}
	for column, values := range all {
		slices.Sort(values)
		if values[0] == values[len(values)-1] {
			delete(all, column)
		}
	}
	return all
}

// shownValues lists a few values of a column, each once.
func shownValues(values []string) string {
	var shown []string
	for _, v := range slices.Compact(slices.Clone(values)) {
		shown = append(shown, driver.Snippet(v))
	}
	return english.List(shown, "and")
}

// diagnoseGrown says that a table of the query has got as many rows as creates were sent, and none with their markers: the
// target stores what it makes, in another form than it was sent. What is prepared may stand in the same table.
func (s several) diagnoseGrown(ctx context.Context) error {
	if len(s.operation.Prepare) > 0 || slices.ContainsFunc(s.rows, func(rows []history.Row) bool { return len(rows) > 0 }) {
		return nil
	}
	for _, table := range slices.Sorted(maps.Keys(s.grown)) {
		if s.grown[table] != len(s.intents) {
			continue
		}
		return fmt.Errorf("%s was acknowledged, and operations.%s.rows.query of %s finds no row for any; but %s, where it looks, has %s more than before, none with a marker%s: the target stores it in another form than it was sent (in capitals, shortened, encoded), or a row without what it was sent. Let {{.Intent.Marker}} stand in a member that is stored as it is, and the query look for it there",
			s.each(), s.operation.Name, s.file(), table, english.Plural(s.grown[table], "row"), s.stored(ctx, table))
	}
	return nil
}

// diagnoseTotals says that a total changes by the same with each create, and by another number than the file says. A try alone
// may show what others write there.
func (s several) diagnoseTotals(context.Context) error {
	before, now, n := s.history.Before, s.history.T1, float64(len(s.intents))
	if before == nil || len(s.intents) < len(s.history.Intents) || slices.ContainsFunc(s.rows, func(rows []history.Row) bool { return len(rows) != 1 }) {
		return nil
	}
	for _, e := range s.operation.Effects {
		first, known := before.Effects[e.Name][""]
		last, still := now.Effects[e.Name][""]
		each := (last - first) / n
		if e.Delta == nil || !known || !still || each == *e.Delta || each != math.Trunc(each) || each < *e.Delta && e.Delivery == contract.SentAtMostOnce {
			continue
		}
		return tooLittle{fmt.Errorf("operations.%s.effects of %s: the query of %q gives %g more after %d plain creates that were sent once, so %g for each, and the file says %g: either another number is right, or the query counts what is not theirs, or the target does it wrong each time",
			s.operation.Name, s.file(), e.Name, last-first, len(s.intents), each, *e.Delta)}
	}
	return nil
}

// stored says what the row that the first answer names has of the marker; empty: nothing that reads like it.
func (s several) stored(ctx context.Context, table string) string {
	marker, named := s.intents[0].Bodies[history.Original].Marker, s.session.System.Terms().Named(s.operation.Name, s.attempts[0])
	if named == "" || s.operation.Rows.Identity == "" {
		return ""
	}
	row := s.session.System.Rows.Named(ctx, table, s.operation.Rows.Identity, named)
	for _, column := range slices.Sorted(maps.Keys(row)) {
		if alike := commonStart(marker, row[column]); alike >= leastAlike {
			return fmt.Sprintf(" (the marker of the first is %q, and %s of its row is %s)", marker, column, driver.Snippet(row[column]))
		}
	}
	return ""
}

// leastAlike is how many letters of a marker a value begins with that is made of it.
const leastAlike = 4

// commonStart is how many letters two texts begin with alike, capitals or not.
func commonStart(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && strings.EqualFold(a[n:n+1], b[n:n+1]) {
		n++
	}
	return n
}

// shownRows shows two of the rows that a query found.
func shownRows(rows []history.Row) string {
	const most = 2
	var shown []string
	for _, row := range rows[:min(len(rows), most)] {
		var columns []string
		for _, name := range slices.Sorted(maps.Keys(row)) {
			value := fmt.Sprint(row[name])
			if _, text := row[name].(string); text {
				value = driver.Snippet(value)
			}
			columns = append(columns, name+" "+value)
		}
		shown = append(shown, strings.Join(columns, ", "))
	}
	return " (" + strings.Join(shown, "; ") + ")"
}

// sizes counts the rows of the tables that the row query of a doubtful operation names: where no row has the marker of a plain
// create, they tell whether it was stored at all. Nil: nothing is in doubt, or they cannot be counted.
func sizes(ctx context.Context, s *Session) map[string]int {
	if s.Doubt.Operation == "" || s.System.Rows == nil {
		return nil
	}
	query := ""
	for _, o := range s.System.Operations {
		if o.Name == s.Doubt.Operation {
			query = o.Rows.Query
		}
	}
	return s.System.Rows.Sizes(ctx, func(table string) bool { return names(query, table) })
}

// grownSince says by how many rows tables have grown.
func grownSince(ctx context.Context, s *Session, before map[string]int) map[string]int {
	if before == nil {
		return nil
	}
	grown := sizes(ctx, s)
	for table, n := range grown {
		grown[table] = n - before[table]
	}
	return grown
}
