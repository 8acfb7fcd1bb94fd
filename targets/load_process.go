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
func (r *reviewer) process() {
	base, err := url.Parse(r.target.BaseURL)
	if err != nil { // which is complained of elsewhere
		return
	}
	p := r.target.Process
	if p == nil {
		r.unstarted(base)
		return
	}
	const env = "/process/env"
	if len(p.Command) > 0 && p.Command[0] == "" {
		r.complain("/process/command/0", "expected a program, got nothing")
	}
	for i, word := range p.Command {
		r.processTemplate("/process/command"+jsonpointer.Of(i), word)
	}
	for name, value := range p.Env {
		r.processTemplate(env+jsonpointer.Of(name), value)
	}
	switch host := base.Hostname(); {
	case !isLoopback(host) && host != "":
		r.complain("/base_url", "a process is started on this machine; expected a host such as 127.0.0.1")
	case base.Port() == "0" && !p.Tells(".Port"):
		r.complain("/process", "nothing tells the process the free port of base_url; put {{.Port}} into command or env")
	}
	if err := r.target.unbalanced(); err != nil {
		r.complain("/process/instances", "%s", err)
	}
	if !r.target.Database.Declared() && p.Tells(".Database.") {
		r.complain("/process", "there is no database to tell the process of; add database.ephemeral or database.url, or leave {{.Database...}} out")
	}
	if r.target.Database.Ephemeral != NoEngine && !p.Tells(".Database.") {
		r.complain("/process", "nothing tells the process where its database is; put {{.Database.URL}}, or parts of it, into command or env")
	}
}

// unstarted looks for what only a process can use.
func (r *reviewer) unstarted(base *url.URL) {
	if base.Port() == "0" {
		r.complain("/base_url", "port 0 stands for a free port, which is for a target that the harness starts; there is no process")
	}
	if r.target.Database.Ephemeral != NoEngine {
		r.complain("/database/ephemeral", "nobody would know of this database: it is for a target that the harness starts, and there is no process")
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// processTemplate tries a template of the process with made-up values.
func (r *reviewer) processTemplate(path, text string) {
	sample := Place{Port: 1, Database: DatabasePlace{URL: "url", Host: "host", Port: "1", User: "user", Password: "password", Name: "name"},
		Store: StorePlace{URL: "url", Host: "host", Port: "1", User: "user", Password: "password"}}
	_, err := fillWith(text, sample)
	switch {
	case err == nil:
	case r.doc.Expanded(path):
		r.complain(path, "the template does not work once its variables are filled in")
	default:
		r.complain(path, "%s", explainPlace(err))
	}
}

// explainPlace says what is wrong with a template of a process, without the engine's coordinates.
func explainPlace(err error) string {
	failed := regexp.MustCompile(`(?s)at <(.*)>: can't evaluate field`).FindStringSubmatch(err.Error())
	if failed == nil {
		return "the template does not work: " + regexp.MustCompile(`^template: :\d+:(\d+:)? ?`).ReplaceAllString(err.Error(), "")
	}
	return "there is no {{" + failed[1] + "}}; there are .Port, .Database.URL, .Database.Host, .Database.Port, .Database.User, .Database.Password, .Database.Name, .Store.URL, .Store.Host, .Store.Port, .Store.User, .Store.Password"
}
