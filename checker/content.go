package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
)

// content holds that the columns which the target file names hold what the body said (I5).
func (c *court) content(m moment, stories []*story, rows []history.Row) {
	if len(rows) == 0 {
		return
	}
	c.sideContent(m, stories[0], side{body: history.Original, rows: rows})
}

func (c *court) sideContent(m moment, s *story, x side) {
	sent, ok := parse(s.intent.Bodies[x.body].Content)
	if !ok {
		return
	}
	for _, row := range x.rows {
		for _, column := range slices.Sorted(maps.Keys(c.terms.Operation.Rows.Content)) {
			pointer := c.terms.Operation.Rows.Content[column]
			want, declared := resolve(sent, pointer)
			got, there := row[column]
			if !declared || there && same(want, normalise(got)) {
				continue
			}
			c.report(m, s, Finding{
				Kind: AlteredBody, Detail: "content",
				Promise:  "A row holds the content of exactly one body that was sent.",
				Expected: fmt.Sprintf("%s = %s, as the %s body says at %s", column, show(want), x.body, pointer),
				Observed: fmt.Sprintf("%s = %s", column, show(normalise(got))),
			})
			return
		}
	}
}

// same compares a sent value with a stored one. Databases give numbers back as text, and the other
// way round, so what reads the same is the same.
func same(sent, stored any) bool {
	return equal(sent, stored) || plain(exactly(sent)) == plain(exactly(stored))
}

func exactly(value any) any {
	if text, ok := value.(string); ok {
		return exact(text)
	}
	return value
}

// leaks holds that no answer to one principal carries the marker of an intent that only another
// principal's requests introduced (I7).
func (c *court) leaks() {
	owners := map[string]string{} // principal by marker
	for _, i := range c.history.Intents {
		for _, b := range i.Bodies {
			owners[b.Marker] = i.Principal
		}
	}
	for _, f := range c.families {
		for _, s := range f.stories {
			for _, a := range s.attempts {
				if foreign := foreignMarker(a, s.intent.Principal, owners); foreign != "" {
					c.leak(s, a, foreign)
				}
			}
		}
	}
}

func (c *court) leak(s *story, a judged, marker string) {
	m := atT1
	if a.Probe {
		m = atT2
	}
	c.report(m, s, Finding{
		Kind:     Leak,
		Promise:  "No principal is shown what only another one sent.",
		Expected: fmt.Sprintf("nothing of another principal in the answer to %s", orNothing(s.intent.Principal)),
		Observed: fmt.Sprintf("attempt %s was answered with the marker %s of another principal", a.ID, marker),
	})
}

// foreignMarker returns a marker of another principal in an answer, or nothing. Markers are words
// of letters and digits, so each word of the answer is looked up once.
func foreignMarker(a judged, principal string, owners map[string]string) string {
	words := strings.FieldsFunc(a.Content+" "+a.Header["Location"], func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	for _, word := range words {
		if owner, known := owners[word]; known && owner != principal {
			return word
		}
	}
	return ""
}

func containsText(text, part string) bool { return part != "" && strings.Contains(text, part) }
