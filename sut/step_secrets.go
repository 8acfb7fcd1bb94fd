package sut

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/targets"
)

// WithoutStepSecrets returns a workload whose steps have what stands for an environment variable in place of each secret that the
// target file spells out for them, and adds the names of these variables to variables: PASSWORD of a member or a header that is
// called so, and ALICE_PASSWORD of what is known of a principal.
func WithoutStepSecrets(w driver.Workload, variables map[string]string) driver.Workload {
	h := hider{variables: variables, hidden: map[string]string{}}
	w.Target.Login = h.steps(w.Target.Login)
	w.Operations = slices.Clone(w.Operations)
	for n := range w.Operations {
		o := &w.Operations[n]
		o.Prepare, o.Key.Issued, o.Remove, o.Cleanup = h.steps(o.Prepare), h.steps(o.Key.Issued), h.steps(o.Remove), h.steps(o.Cleanup)
	}
	w.Principals = slices.Clone(w.Principals)
	for n, p := range w.Principals {
		values := targets.Principal{}
		for _, name := range slices.Sorted(maps.Keys(p.Values)) {
			values[name] = p.Values[name]
			if surelySecret.MatchString(name) || len(p.Values[name]) >= driver.ShortestSecret {
				values[name] = h.hide(p.Name+"_"+name, p.Values[name])
			}
		}
		w.Principals[n].Values = values
	}
	return w
}

// hider puts what stands for environment variables in place of secrets.
type hider struct {
	variables map[string]string // their names, by what stands for them
	hidden    map[string]string // texts, by what stands for them
}

// notInNames is what the name of an environment variable cannot have.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// hide returns what stands for a text, which may do so already.
func (h hider) hide(name, text string) string {
	given := func(stands string) bool { return strings.Contains(text, stands) }
	if text == "" || strings.Contains(text, "{{") || slices.ContainsFunc(slices.Collect(maps.Keys(h.variables)), given) {
		return text
	}
	first := strings.ToUpper(notInNames.ReplaceAllString(name, "_"))
	if first[0] <= '9' {
		first = "SECRET_" + first
	}
	variable := first
	for n := 2; h.variables[placeholder(variable)] != "" && h.hidden[placeholder(variable)] != text; n++ {
		variable = fmt.Sprintf("%s_%d", first, n)
	}
	h.variables[placeholder(variable)], h.hidden[placeholder(variable)] = variable, text
	return placeholder(variable)
}

// steps returns copies of steps, without their secrets.
func (h hider) steps(steps []targets.Step) []targets.Step {
	hidden := slices.Clone(steps)
	for n := range hidden {
		q := &hidden[n].Request
		q.Header = maps.Clone(q.Header)
		for name, text := range q.Header {
			if surelySecret.MatchString(name) {
				q.Header[name] = h.hide(name, text)
			}
		}
		q.ChangePayload(func(members map[string]any) map[string]any { return h.value("", members).(map[string]any) })
		if path, query, found := strings.Cut(q.Path, "?"); found {
			parameters := strings.Split(query, "&")
			for i, parameter := range parameters {
				if name, text, _ := strings.Cut(parameter, "="); surelySecret.MatchString(name) {
					parameters[i] = name + "=" + h.hide(name, text)
				}
			}
			q.Path = path + "?" + strings.Join(parameters, "&")
		}
		if q.Sign != nil {
			sign := *q.Sign
			sign.Secret = h.hide("signing_secret", sign.Secret)
			q.Sign = &sign
		}
	}
	return hidden
}

// value returns a copy of what a payload holds under a name.
func (h hider) value(name string, value any) any {
	switch value := value.(type) {
	case string:
		if surelySecret.MatchString(name) {
			return h.hide(name, value)
		}
	case []any:
		all := make([]any, len(value))
		for n, element := range value {
			all[n] = h.value(name, element)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(value))
		for name, member := range value {
			all[name] = h.value(name, member)
		}
		return all
	}
	return value
}
