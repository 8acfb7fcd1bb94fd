package sut

import (
	"bytes"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// variableNames finds ${NAME} in the text of a target file.
var variableNames = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)`)

// Unexpanded is a system of a target file in which a placeholder stands for each
// environment variable, wherever the file bears that, and the variables' names by what
// stands for them. So an export can say $TOKEN where the run had the token. The URLs of
// target and database stay what they are. It tries one variable after the other, as a
// placeholder may not be valid in its place, such as in a number.
func (s *System) Unexpanded(files []scenarios.File) (*System, map[string]string, error) {
	source, err := s.options.source()
	if err != nil {
		return nil, nil, err
	}
	stands := map[string]string{}
	load := func() (targets.Target, error) {
		return s.options.loadWith(source, func(name string) (string, bool) {
			if _, replaced := stands[placeholder(name)]; replaced {
				return placeholder(name), true
			}
			return s.options.env(name)
		})
	}
	for _, found := range variableNames.FindAllSubmatch(source, -1) {
		name := string(found[1])
		stands[placeholder(name)] = name
		target, err := load()
		if err != nil || target.BaseURL != s.loaded.BaseURL || target.Database.URL != s.loaded.Database.URL {
			delete(stands, placeholder(name))
		}
	}
	target, err := load()
	if err != nil {
		return nil, nil, runerror.Config(err)
	}
	shadow := &System{Name: s.Name, Target: target, loaded: target, options: s.options}
	shadow.options.Operation = s.Operation().Name
	return shadow, stands, shadow.choose(files)
}

// placeholder is a text that no file holds by chance.
func placeholder(variable string) string { return "dtvariable" + variable + "dt" }

// FileWithoutSecrets returns the text of the system's target file, for others to read. It
// is nil if the target is built in, or if the file spells a secret out that would better
// stand in an environment variable. In doubt it is nil: a missing file is a nuisance, a
// leak is not.
func (s *System) FileWithoutSecrets() []byte {
	if s.BuiltIn() || s.options.Spec != nil {
		return nil
	}
	source, err := s.options.source()
	if err != nil || spellsOutPassword(s, source) {
		return nil
	}
	shadow, stands, err := s.Unexpanded(nil)
	if err != nil || spellsOut(shadow, stands) {
		return nil
	}
	return source
}

// spellsOutPassword reports that the text has the password of a URL in it, in any
// spelling.
func spellsOutPassword(s *System, source []byte) bool {
	for _, place := range placesOf(s.loaded) {
		if _, err := url.Parse(place); err != nil {
			return true
		}
		if slices.ContainsFunc(passwordIn(place), func(written string) bool { return bytes.Contains(source, []byte(written)) }) {
			return true
		}
	}
	return false
}

// placesOf are the URLs of a target that may hold a password: of servers beside its API, which has principals and headers for that.
func placesOf(t targets.Target) []string {
	places := []string{t.Database.URL, t.Store.URL}
	for _, instance := range t.Instances {
		places = append(places, instance.Database)
	}
	for _, sink := range t.Sinks {
		places = append(places, sink.Server())
	}
	return slices.DeleteFunc(places, func(place string) bool { return place == "" })
}

// passwordIn returns the password of a URL in all its spellings: as it is meant, as it stands there, and as others
// write it. A text without one has none.
func passwordIn(place string) []string {
	u, err := url.Parse(place)
	if err != nil {
		return nil
	}
	var written []string
	for name, values := range u.Query() { // as PostgreSQL and MariaDB take it
		if strings.Contains(strings.ToLower(name), "password") {
			for _, value := range values {
				if value != "" {
					written = append(written, driver.Writings(value)...)
				}
			}
		}
	}
	password, _ := u.User.Password()
	if password == "" {
		return written
	}
	_, authority, _ := strings.Cut(place, "//")
	authority = strings.FieldsFunc(authority, func(c rune) bool { return strings.ContainsRune("/?#", c) })[0]
	_, stands, _ := strings.Cut(authority[:strings.LastIndex(authority, "@")], ":")
	_, usual, _ := strings.Cut(u.User.String(), ":")
	return append(append(written, driver.Writings(password)...), stands, usual)
}

// spellsOut reports that a secret header, or what is known of a principal, has nothing in it that stands for
// a variable.
func spellsOut(s *System, stands map[string]string) bool {
	given := func(value string) bool {
		return strings.Contains(value, driver.Placeholder) || slices.ContainsFunc(slices.Collect(maps.Keys(stands)), func(text string) bool { return strings.Contains(value, text) })
	}
	for _, p := range s.Principals {
		for _, value := range p.Values {
			if !given(value) {
				return true
			}
		}
	}
	if spellsOutRequests(s, given) || spellsOutProcess(s, given) {
		return true
	}
	for _, o := range slices.Concat(s.Operations, s.Ways) {
		one := driver.Workload{
			Target: s.Target, Operations: []driver.Operation{o}, Principals: s.Principals,
			Plan: scenarios.NewPlan(scenarios.Scenario{Intents: 1, Steps: []scenarios.Step{{Send: &scenarios.Send{}}}}, 0),
		}
		requests, err := one.Rehearse()
		if err != nil || one.SpellsOut(given) {
			return true
		}
		for _, r := range requests {
			if slices.ContainsFunc(r.Secret, func(name string) bool { return !given(r.Header[name]) }) || r.Signer != "" && !given(r.Signer) {
				return true
			}
		}
	}
	return false
}

// spellsOutProcess reports that the environment of the target's process has such a variable with a text of the
// file's own.
func spellsOutProcess(s *System, given func(string) bool) bool {
	if s.Target.Process == nil {
		return false
	}
	for name, value := range s.Target.Process.Env {
		if secretVariable.MatchString(name) && value != "" && !strings.Contains(value, "{{") && !given(value) {
			return true
		}
	}
	return false
}

// spellsOutRequests reports that a request has a secret in it that neither a template nor a variable gives: what its
// name speaks for. The driver looks at the headers of a create, and its body is on record anyway.
func spellsOutRequests(s *System, given func(string) bool) bool {
	steps, asked := slices.Clone(s.Target.Login), []string{}
	for _, o := range s.Target.Operations {
		steps = slices.Concat(steps, o.Prepare, o.Key.Issued, o.Remove, o.Cleanup)
		asked = append(asked, o.Request.Path)
		if o.Rows.HTTP != nil {
			asked = append(asked, o.Rows.HTTP.Path)
		}
	}
	literal := func(name, text string) bool {
		return perhapsSecret.MatchString(name) && text != "" && !strings.Contains(text, "{{") && !given(text)
	}
	for _, step := range steps {
		_, members := step.Request.Payload()
		if sign := step.Request.Sign; spelledOut("", members, literal) || sign != nil && literal("secret", sign.Secret) {
			return true
		}
		for name, value := range step.Request.Header {
			if literal(name, value) {
				return true
			}
		}
		asked = append(asked, step.Request.Path)
	}
	return slices.ContainsFunc(asked, func(path string) bool {
		_, query, _ := strings.Cut(path, "?")
		return slices.ContainsFunc(strings.Split(query, "&"), func(parameter string) bool {
			name, value, _ := strings.Cut(parameter, "=")
			return literal(name, value)
		})
	})
}

// spelledOut reports that there is such a text in a value, or a member that is called so and has one.
func spelledOut(name string, value any, literal func(name, text string) bool) bool {
	switch value := value.(type) {
	case string:
		return literal(name, value)
	case []any:
		return slices.ContainsFunc(value, func(element any) bool { return spelledOut(name, element, literal) })
	case map[string]any:
		for name, member := range value {
			if spelledOut(name, member, literal) {
				return true
			}
		}
	}
	return false
}
