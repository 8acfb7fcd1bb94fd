package reports

import "strings"

// glyph is a moment on a lane, and in the legend what its mark means.
type glyph struct{ Name, X, Text string }

// legendOf explains what is drawn, and nothing else.
func legendOf(lanes []lane) []glyph {
	drawn := map[string]bool{}
	for _, l := range lanes {
		for _, s := range l.Spans {
			for class := range strings.FieldsSeq(s.Class) {
				drawn[class] = true
			}
		}
		for _, m := range l.Marks {
			drawn[m.Name] = true
		}
	}
	var all []glyph
	for _, name := range momentNames() {
		if drawn[name] {
			all = append(all, glyph{Name: name, Text: momentText(name)})
		}
	}
	return all
}
