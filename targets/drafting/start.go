package drafting

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Start is how the target is started.
type Start struct {
	Command   []string
	Directory string            // from where the file is; empty: there
	Env       map[string]string // templates
	Ready     string            // path of a GET that says that it is ready; empty: none is known
	FreePort  bool              // it is told its port
	Linked    bool              // it is told its database
}

// Places of a process that a run fills in.
const (
	portTemplate     = "{{.Port}}"
	databaseTemplate = "{{.Database.URL}}"
)

// ReadStart reads a command line that starts a target, and finds what of the environment tells the target its port and its database:
// the lines of the environment are NAME=value.
func ReadStart(command string, environment []string, base, database string) (*Start, error) {
	words, err := split(command)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("it names no program")
	}
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains([]string{"|", "&", "&&", "||", ";", ">"}, w) }) {
		return nil, errors.New("it is run without a shell; write sh -c 'COMMAND'")
	}
	s := &Start{Env: map[string]string{}}
	port := ""
	if u, err := url.Parse(base); err == nil {
		port = u.Port()
	}
	for _, word := range words {
		if database != "" && sameDatabase(word, database) {
			s.Command, s.Linked = append(s.Command, databaseTemplate), true
			continue
		}
		told := portIn(Escape(word), port)
		s.FreePort = s.FreePort || told != Escape(word)
		s.Command = append(s.Command, told)
	}
	for _, line := range environment {
		name, value, is := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		value = strings.Trim(value, `"'`)
		switch {
		case !is || !variableName.MatchString(name):
		case port != "" && value == port && strings.HasSuffix(name, "PORT") && !ownBusiness.MatchString(name):
			s.Env[name], s.FreePort = portTemplate, true
		case database != "" && value != "" && sameDatabase(value, database):
			s.Env[name], s.Linked = databaseTemplate, true
		}
	}
	return s, nil
}

// portIn is a word of a command in which the port is left to a run.
func portIn(word, port string) string {
	switch before, found := strings.CutSuffix(word, port); {
	case port == "" || !found:
	case before == "" || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "="):
		return before + portTemplate
	}
	return word
}

// sameDatabase reports that two URLs lead to one database in one way.
func sameDatabase(one, other string) bool {
	a, errA := url.Parse(one)
	b, errB := url.Parse(other)
	if errA != nil || errB != nil || a.Scheme != b.Scheme {
		return false
	}
	address := databases.AddressOf(one)
	return one == other || address != "" && address == databases.AddressOf(other) && a.Path == b.Path
}

// writeStart writes how the target is started.
func writeStart(f *File) {
	s := f.Start
	if s == nil {
		return
	}
	f.line("process: # doubletap starts the target, so that it can kill it, and break its connections")
	f.line("  command: %s", flow(s.Command))
	if s.Directory != "" {
		f.line("  directory: %s", flow(s.Directory))
	}
	if len(s.Env) > 0 {
		f.line("  env: %s # beside that of doubletap", flow(s.Env))
	}
	if s.Ready != "" {
		f.line("  ready: {path: %s}", flow(s.Ready))
	}
}

// doubtStart says what is not known of how the target is started.
func doubtStart(f *File) {
	s := f.Start
	if s == nil {
		return
	}
	if !s.FreePort {
		f.doubt(`By which variable the target learns its port: no variable of the environment and no word of the command has it. So it is started on its own, which must be free; with base_url http://127.0.0.1:0 and process.env: {PORT: "{{.Port}}"} it gets a free one.`)
	}
	if f.Database && !s.Linked {
		f.doubt(`By which variable the target learns its database: none of the environment has its URL. With process.env: {DATABASE_URL: "{{.Database.URL}}"} its connections can be broken, too.`)
	}
}

// baseOf is the URL at which the target is: with another port for each run, where it is told its own.
func baseOf(f *File) string {
	u, err := url.Parse(strings.TrimRight(f.BaseURL, "/"))
	if err != nil || f.Start == nil {
		return "${" + Variable(Prefix(f.Target), "URL") + ":-" + strings.TrimRight(f.BaseURL, "/") + "}"
	}
	if f.Start.FreePort {
		u.Host = net.JoinHostPort(u.Hostname(), "0")
	}
	return u.String()
}
