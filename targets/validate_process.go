package targets

import (
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// What the description of a process may leave out.
const (
	usualReady  = contract.Duration(30 * time.Second)
	usualStop   = contract.Duration(5 * time.Second)
	usualSignal = "SIGTERM"
)

// complete fills in what the file leaves out, and finds files beside it.
func (p *Process) complete(file string) {
	p.Directory = beside(file, p.Directory)
	p.Instances = max(p.Instances, 1)
	if p.Ready.Within == 0 {
		p.Ready.Within = usualReady
	}
	if p.Stop.Signal == "" {
		p.Stop.Signal = usualSignal
	}
	if p.Stop.Within == 0 {
		p.Stop.Within = usualStop
	}
}

// beside is a path that a file names from where it is.
func beside(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// process looks at what the harness is to start: the target, and its database.
func (v *validator) process() {
	base, err := url.Parse(v.target.BaseURL)
	if err != nil { // which is a mistake of another place
		return
	}
	p := v.target.Process
	if p == nil {
		unstarted(v, base)
		return
	}
	const env = "/process/env"
	if len(p.Command) > 0 && p.Command[0] == "" {
		v.addMistake("/process/command/0", "expected a program, got nothing")
	}
	for i, word := range p.Command {
		processTemplate(v, "/process/command"+jsonpointer.Of(i), word)
	}
	for name, value := range p.Env {
		processTemplate(v, env+jsonpointer.Of(name), value)
	}
	switch host := base.Hostname(); {
	case !isLoopback(host) && host != "":
		v.addMistake("/base_url", "a process is started on this machine; expected a host such as 127.0.0.1")
	case base.Port() == "0" && !p.Tells(".Port"):
		v.addMistake("/process", "the process does not get the free port of base_url; put {{.Port}} into command or env")
	}
	if err := v.target.unbalanced(); err != nil {
		v.addMistake("/process/instances", "%s", err)
	}
	if !v.target.Database.Declared() && p.Tells(".Database.") {
		v.addMistake("/process", "{{.Database...}} has no value; add database.ephemeral or database.url, or leave it out")
	}
	if v.target.Database.Ephemeral != NoEngine && !p.Tells(".Database.") {
		v.addMistake("/process", "the process does not get the address of its database; put {{.Database.URL}}, or parts of it, into command or env")
	}
}

// unstarted looks for what only a process can use.
func unstarted(v *validator, base *url.URL) {
	if base.Port() == "0" {
		v.addMistake("/base_url", "port 0 stands for a free port, which is for a target that the harness starts; there is no process")
	}
	if v.target.Database.Ephemeral != NoEngine {
		v.addMistake("/database/ephemeral", "an ephemeral database needs process: only a target that the harness starts gets its address")
	}
}

// isLoopback reports whether a host is this machine. No name is resolved: what it resolves to may
// change later.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// processTemplate tries a template of the process with made-up values.
func processTemplate(v *validator, path, text string) {
	sample := Place{Port: 1, Database: DatabasePlace{URL: "url", Host: "host", Port: "1", User: "user", Password: "password", Name: "name"},
		Store: StorePlace{URL: "url", Host: "host", Port: "1", User: "user", Password: "password"}, Sink: map[string]SinkPlace{}}
	for name := range v.target.Sinks {
		sample.Sink[name] = SinkPlace{URL: "url", Host: "host", Port: "1"}
	}
	_, err := fillWith(text, sample)
	switch {
	case err == nil:
	case v.doc.Expanded(path):
		v.addMistake(path, "the template does not work once its variables are filled in")
	default:
		v.addMistake(path, "%s", explainPlace(err))
	}
}

// explainPlace says what is wrong with a template of a process, without the engine's coordinates.
func explainPlace(err error) string {
	field := missingField(err)
	if field == "" {
		return templateError(err)
	}
	return "there is no {{" + field + "}}; there are .Port, .Database.URL, .Database.Host, .Database.Port, .Database.User, .Database.Password, .Database.Name, .Store.URL, .Store.Host, .Store.Port, .Store.User, .Store.Password, and of each sink .Sink.NAME.URL, .Host and .Port"
}

// missingField is what a template names and there is not; empty: it has another mistake.
func missingField(err error) string {
	failed := regexp.MustCompile(`(?s)at <(.*)>: (?:can't evaluate field|map has no entry for key)`).FindStringSubmatch(err.Error())
	if failed == nil {
		return ""
	}
	return failed[1]
}

// templateError is the mistake of a template in the engine's words.
func templateError(err error) string {
	return "the template does not work: " + regexp.MustCompile(`^template: :\d+:(\d+:)? ?`).ReplaceAllString(err.Error(), "")
}
