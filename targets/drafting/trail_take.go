package drafting

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets"
)

// cookie is the template of a cookie that a step was seen to set; empty: none was.
func (t *trail) cookie(name, value string) string {
	for _, s := range slices.Backward(t.steps) {
		for _, h := range s.entry.Response.Headers {
			set, err := http.ParseSetCookie(h.Value)
			if strings.EqualFold(h.Name, "Set-Cookie") && err == nil && set.Name == name && set.Value == value {
				return t.takes(s, name, Take{Cookie: name})
			}
		}
	}
	return ""
}

// from is the template of a value that a step's answer was seen to have; empty: none had it. A short one proves nothing.
func (t *trail) from(name, value string) string {
	if len(value) < shortestToken {
		return ""
	}
	for _, s := range slices.Backward(t.steps) {
		if take := tokenIn(s.entry, name, value); take != (Take{}) {
			return t.takes(s, name, take)
		}
	}
	return ""
}

// shortestToken is how long a value is at least that is known again by its text.
const shortestToken = 8

// tokenIn finds a value in an answer: in its JSON, or in a page as that of an input of this name or of a meta element.
func tokenIn(e entry, name, value string) Take {
	if len(value) < shortestToken {
		return Take{}
	}
	if answer := e.answer(); answer != nil {
		at := ""
		Scalars("", answer, func(pointer string, member any) {
			if member == value && at == "" {
				at = pointer
			}
		})
		return Take{JSON: at}
	}
	places := []Take{{HTML: fmt.Sprintf("input[name=%q]", name), Attribute: "value"}}
	for _, meta := range []string{"csrf-token", "csrf_token", "_csrf", "xsrf-token"} {
		places = append(places, Take{HTML: fmt.Sprintf("meta[name=%q]", meta), Attribute: "content"})
	}
	for _, place := range places {
		found, err := targets.Take{HTML: place.HTML, Attribute: place.Attribute}.From(targets.Answer{Body: e.text()})
		if err == nil && found == value {
			return place
		}
	}
	return Take{}
}

// takes makes a step take a value, and returns the template for it.
func (t *trail) takes(s *footstep, name string, take Take) string {
	base := Exported(name)
	if base == "" || strings.EqualFold(name, "Authorization") {
		base = "Token"
	}
	for n := 1; ; n++ {
		called := base
		if n > 1 {
			called = fmt.Sprintf("%s%d", base, n)
		}
		if there, taken := t.taken(s.space, called); !taken || s.Take[called] == take && there == take {
			s.Take[called] = take
			return "{{." + s.space + "." + called + "}}"
		}
	}
}

// taken is what a step of a space takes under a name.
func (t *trail) taken(space, name string) (Take, bool) {
	for _, s := range t.steps {
		if take, taken := s.Take[name]; taken && s.space == space {
			return take, true
		}
	}
	return Take{}, false
}
