package curl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/shell"
)

// effects compares what belongs to the rows with how many there are.
func (w judging) effects() {
	w.page.Amounts = true
	w.check("all=0")
	w.eachMarker(func(string, []*asked) string { return "all=$((all + number))" })
	for n, e := range w.page.Judge.Effects {
		switch {
		case e.Rows != nil:
			w.ofEachMarker(func(marker string, of *asked) string {
				return fmt.Sprintf("count \"the effect of $%s\" %s\neffect=$number", marker, w.word(askedFor(e.Query, of.request)))
			}, "", float64(*e.Rows))
		case e.Value != nil:
			w.ofEachMarker(func(marker string, of *asked) string {
				return fmt.Sprintf("effect=$(rows %s) || stop \"the effects cannot be counted\"\necho \"the effect of $%s: $effect\"",
					w.word(askedFor(e.Query, of.request)), marker)
			}, `[ "$number" -eq 0 ] || `, *e.Value) // what was prepared has a value, too
		case e.Delta != nil:
			query := shell.Quote(strings.TrimRight(strings.TrimSpace(e.Query), "; \t\n"))
			w.page.Before = append(w.page.Before, fmt.Sprintf("before_%d=$(rows %s) || stop \"the effects cannot be counted\"", n, query))
			w.check("after=$(rows %s) || stop \"the effects cannot be counted\"\necho \"the effect went from $before_%d to $after\"\nfits \"$before_%d\" \"$after\" $all %s || again=yes",
				query, n, n, decimal(*e.Delta))
		}
	}
	w.tookEffect()
}

// ofEachMarker writes commands that set $effect to what there is of an effect, and compares it with the rows of the marker, unless
// something holds.
func (w judging) ofEachMarker(effect func(marker string, of *asked) string, unless string, each float64) {
	for n, q := range w.page.Queries {
		var of *asked
		for _, a := range w.page.asked {
			if a.marker == q.Marker {
				of = a
			}
		}
		if of != nil {
			w.check("%s\ncount \"$%s\" \"$query_%d\"\n%sfits 0 \"$effect\" \"$number\" %s || again=yes", effect(q.Marker, of), q.Marker, n, unless, decimal(each))
		}
	}
}

// decimal writes a number without an exponent, which the shell's tools do not read.
func decimal(number float64) string { return strconv.FormatFloat(number, 'f', -1, 64) }
