package engine

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/snapshots"
)

// control is the scenario of the library that shows what a plain create does.
const control = "plain-create"

// LeftToControl is why a scenario was not played beside the control.
const LeftToControl = "it was not run: what a plain create does is in doubt, see " + control

// Doubt is what plain creates of the pilot did that is a defect, unless the target file
// has a mistake: no row, or several. Neither can be told from here, so the run goes on and
// the finding says both. The zero value is none.
type Doubt struct {
	Operation string
	Text      string
}

// isOwn reports that a table is found without the name of a schema.
func isOwn(table string) bool { return !strings.Contains(table, ".") }

// few lists the first of some tables.
func few(tables []string) string {
	const most = 5
	if len(tables) > most {
		return strings.Join(tables[:most], ", ") + ", ..."
	}
	return strings.Join(tables, ", ")
}

// withoutRow tells a create that was acknowledged and made nothing from a row query that looks elsewhere.
func (c create) withoutRow(ctx context.Context, marker, said string) (doubt string, err error) {
	s := c.session
	query := fmt.Sprintf("operations.%s.rows.query of %s", c.operation.Name, s.System.Name)
	found, unsearched, err := s.System.Rows.Search(ctx, marker)
	switch {
	case err == nil && len(found) > 0:
		if own := slices.DeleteFunc(slices.Clone(found), func(p snapshots.Place) bool { return !names(c.operation.Rows.Query, p.Table) }); len(own) > 0 {
			found = own
		}
		return "", runerror.Configf("a plain create was %s, and no row that %s finds has its marker %q; it is in %s%s: let the query look there, unless the target was to make a row elsewhere and made none",
			said, query, marker, places(found), otherwise(found, marker))
	case err != nil || slices.ContainsFunc(unsearched, isOwn):
		why := few(unsearched)
		if err != nil {
			why = err.Error()
		}
		return "", runerror.Configf("a plain create was %s, and no row has its marker %q: the target does not store the field that carries {{.Intent.Marker}}, or %s looks elsewhere, or database.url is another database (not all of it could be searched: %s)",
			said, marker, query, why)
	default:
		besides := ""
		if len(unsearched) > 0 {
			besides = ", but for tables of other schemas that could not be searched (" + few(unsearched) + ")"
		}
		return fmt.Sprintf("a plain create of the pilot was %s, and its marker is nowhere in the database at %s%s: the target made nothing, unless database.url of %s is another database, or the target does not store the field that carries {{.Intent.Marker}} as it is",
			said, s.System.Rows.Host(), besides, s.System.Name), nil
	}
}

// withRows tells a create that made several rows from a row query that finds one several times.
func (c create) withRows(ctx context.Context, marker string, rows []history.Row) (doubt string, err error) {
	s, n := c.session, len(rows)
	query := fmt.Sprintf("operations.%s.rows.query of %s", c.operation.Name, s.System.Name)
	found, _, err := s.System.Rows.Search(ctx, marker)
	asked := slices.DeleteFunc(slices.Clone(found), func(p snapshots.Place) bool { return !names(c.operation.Rows.Query, p.Table) })
	if err != nil || len(asked) == 0 || slices.ContainsFunc(asked, func(p snapshots.Place) bool { return p.Rows == 1 }) {
		return "", runerror.Configf("%s finds %d rows for one plain create that was sent once%s: either it counts rows that are not the created thing, and has to find exactly that (effects may count the others), or the target makes %d for one request%s",
			query, n, shownRows(rows), n, holding(found))
	}
	return fmt.Sprintf("one plain create of the pilot made %s with its marker (%s), unless %s does not find exactly the created thing",
		english.Plural(n, "row"), places(asked), query), nil
}

// holding says where a marker is; empty: nowhere that was searched.
func holding(found []snapshots.Place) string {
	var all []string
	for _, p := range found {
		all = append(all, fmt.Sprintf("%s of %s", english.Plural(p.Rows, "row"), p.Table))
	}
	if len(all) == 0 {
		return ""
	}
	return " (the marker is in " + english.List(all, "and") + ")"
}

// otherwise says in which letters a marker is stored that is nowhere stored as it was sent; empty: it is.
func otherwise(found []snapshots.Place, marker string) string {
	stored := ""
	for _, p := range found {
		for _, column := range p.Columns {
			switch value := p.Held[0][column]; {
			case value == marker:
				return ""
			case strings.EqualFold(value, marker):
				stored = fmt.Sprintf(" (stored as %q)", value)
			}
		}
	}
	return stored
}

// names reports that a query names a table: with its schema, if it has one, which only those have that are not found without.
func names(query, table string) bool {
	const quote = "[\"`]?"
	name := regexp.QuoteMeta(table)
	if schema, of, within := strings.Cut(table, "."); within {
		name = regexp.QuoteMeta(schema) + quote + `\s*\.\s*` + quote + regexp.QuoteMeta(of)
	}
	return regexp.MustCompile(`(?i)(^|[^\w])` + name + `($|[^\w])`).MatchString(query)
}

// places lists tables with the columns in which something was found.
func places(all []snapshots.Place) string {
	var texts []string
	for _, p := range all {
		texts = append(texts, fmt.Sprintf("%s.%s", p.Table, strings.Join(p.Columns, " and ")))
	}
	return english.List(texts, "and")
}

// leftToControl says why a scenario is not played; empty: it is. Where plain creates are in doubt, the control tells all
// there is, and the others would tell it again.
func leftToControl(s *Session, i int) string {
	name := s.config.Scenarios[i].Scenario.Name
	if s.Doubt.Operation != s.System.Operation().Name || name == control {
		return ""
	}
	for n, f := range s.config.Scenarios {
		if f.Scenario.Name == control && len(s.plans[n].Intents) > 0 {
			return LeftToControl
		}
	}
	return ""
}

// noteDoubt says in a scenario that plain creates are in doubt.
func noteDoubt(r *scenarioRun) {
	if s := r.session; s.Doubt.Text != "" && !r.pilot && !r.recovering {
		r.incident(history.PlainDoubt, s.Doubt.Text)
	}
}
