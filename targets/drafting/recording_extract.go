package drafting

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets"
)

// cookie is the template of a cookie that a step was seen to set; empty: none was.
func (rec *recording) cookie(name, value string) string {
	for _, s := range slices.Backward(rec.steps) {
		for _, h := range s.entry.Response.Headers {
			set, err := http.ParseSetCookie(h.Value)
			if strings.EqualFold(h.Name, "Set-Cookie") && err == nil && set.Name == name && set.Value == value {
				return rec.extract(s, name, Extract{Cookie: name})
			}
		}
	}
	return ""
}

// from is the template of a value that a step's answer was seen to have; empty: none had it. A short value proves nothing.
func (rec *recording) from(name, value string) string {
	if len(value) < shortestToken {
		return ""
	}
	for _, s := range slices.Backward(rec.steps) {
		if place := tokenIn(s.entry, name, value); place != (Extract{}) {
			return rec.extract(s, name, place)
		}
	}
	return ""
}

// shortestToken is the least length of a value that can be recognised by its text alone.
const shortestToken = 8

// tokenIn finds a value in an answer: in its JSON, or in a page as that of an input of this name or of a meta element.
func tokenIn(e entry, name, value string) Extract {
	if len(value) < shortestToken {
		return Extract{}
	}
	if answer := e.answer(); answer != nil {
		at := ""
		Scalars("", answer, func(pointer string, member any) {
			if member == value && at == "" {
				at = pointer
			}
		})
		return Extract{JSON: at}
	}
	places := []Extract{{HTML: fmt.Sprintf("input[name=%q]", name), Attribute: "value"}}
	for _, meta := range []string{"csrf-token", "csrf_token", "_csrf", "xsrf-token"} {
		places = append(places, Extract{HTML: fmt.Sprintf("meta[name=%q]", meta), Attribute: "content"})
	}
	for _, place := range places {
		found, err := targets.Extract{HTML: place.HTML, Attribute: place.Attribute}.From(targets.Answer{Body: e.text()})
		if err == nil && found == value {
			return place
		}
	}
	return Extract{}
}

// extract makes a step extract a value, and returns the template for it.
func (rec *recording) extract(s *recordedStep, name string, place Extract) string {
	base := Exported(name)
	if base == "" || strings.EqualFold(name, "Authorization") {
		base = "Token"
	}
	for n := 1; ; n++ {
		called := base
		if n > 1 {
			called = fmt.Sprintf("%s%d", base, n)
		}
		if there, taken := rec.extracted(s.space, called); !taken || s.Extract[called] == place && there == place {
			s.Extract[called] = place
			return "{{." + s.space + "." + called + "}}"
		}
	}
}

// extracted is what a step of a space extracts under a name.
func (rec *recording) extracted(space, name string) (Extract, bool) {
	for _, s := range rec.steps {
		if place, taken := s.Extract[name]; taken && s.space == space {
			return place, true
		}
	}
	return Extract{}, false
}
