package reports

import (
	"strings"

	"github.com/doubletap-harness/doubletap/history"
)

// glyph is a moment on a lane, and in the legend what its mark means.
type glyph struct{ Name, X, Text string }

func beginning(a history.Attempt) string {
	switch {
	case a.Probe:
		return "probe"
	case a.Retry > 0:
		return "retry"
	default:
		return "begun"
	}
}

func endingGlyph(a history.Attempt) string {
	switch {
	case a.Complete:
		return "heard"
	case a.ErrorKind == history.Timeout:
		return "timeout"
	default:
		return "broken"
	}
}

// glyphNames lists the marks and the spans in the order of the legend.
func glyphNames() []string {
	return []string{
		"begun", "retry", "probe", "written", "held", "arrived", "inside", "unanswered", "answered", "heard", "timeout", "broken",
		"gone", "endless",
	}
}

func glyphText(name string) string {
	switch name {
	case "begun":
		return "attempt begins"
	case "retry":
		return "retry begins"
	case "probe":
		return "attempt of the final probe begins"
	case "written":
		return "request written"
	case "held":
		return "held at the doorstep"
	case "arrived":
		return "request at the target"
	case "inside":
		return "inside the target"
	case "unanswered":
		return "inside the target, no answer"
	case "answered":
		return "target answers"
	case "heard":
		return "client has the answer"
	case "timeout":
		return "client's deadline passes"
	case "gone":
		return "after the client had gone"
	case "endless":
		return "no end is recorded"
	default:
		return "connection ends without an answer"
	}
}

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
	for _, name := range glyphNames() {
		if drawn[name] {
			all = append(all, glyph{Name: name, Text: glyphText(name)})
		}
	}
	return all
}
