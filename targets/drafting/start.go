package drafting

import (
	"errors"
	"maps"
	"net"
	"net/url"
	"regexp"
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
	// In the command line, a word or the value of an option is what tells the database, and any part of a word
	// the port.
	for _, word := range words {
		option, value, is := strings.Cut(word, "=")
		if !is || !strings.HasPrefix(option, "-") && !variableName.MatchString(option) { // env NAME=value COMMAND
			option, value = "", word
		} else {
			option = Escape(option) + "="
		}
		if told := databaseIn(value, database); told != "" {
			s.Command, s.Linked = append(s.Command, option+told), true
			continue
		}
		told := portIn(written(word, database), port)
		s.FreePort = s.FreePort || strings.Contains(told, portTemplate)
		s.Linked = s.Linked || strings.Contains(told, "{{.Database.")
		s.Command = append(s.Command, told)
	}
	// In the environment, a port is believed only of a variable that is called so: a number like 8080 stands for
	// much.
	variables := map[string]string{}
	for _, line := range environment {
		if name, value, is := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "="); is && variableName.MatchString(name) {
			variables[name] = strings.Trim(value, `"'`)
		}
	}
	for name, value := range variables {
		told := databaseIn(value, database)
		switch {
		case port != "" && value == port && strings.HasSuffix(name, "PORT") && !ownBusiness.MatchString(name):
			s.Env[name], s.FreePort = portTemplate, true
		case told != "":
			s.Env[name], s.Linked = told, true
		}
	}
	if prefix, host := hostIn(variables, database); host != "" {
		s.Env[host], s.Env[prefix+"PORT"], s.Linked = "{{.Database.Host}}", "{{.Database.Port}}", true
	}
	return s, nil
}

// processPlace matches a place of a process that a run fills in, as target files have it: whoever writes one in a command means it.
var processPlace = regexp.MustCompile(`\{\{ *\.(Port|Database\.(?:URL|Host|Port|User|Password|Name)) *\}\}`)

// written is a word of the command as a template: with its own places, and the database's URL within it, as in sh -c 'URL=... ./shop'.
func written(word, database string) string {
	if database != "" {
		word = strings.ReplaceAll(word, database, databaseTemplate)
	}
	text, from := "", 0
	for _, at := range processPlace.FindAllStringSubmatchIndex(word, -1) {
		text += Escape(word[from:at[0]]) + "{{." + word[at[2]:at[3]] + "}}"
		from = at[1]
	}
	return text + Escape(word[from:])
}

// hostIn finds the variables that have the host and the port of the database, such as DB_HOST and DB_PORT; no host: there are none.
func hostIn(variables map[string]string, database string) (prefix, host string) {
	address := hereIs(databases.AddressOf(database))
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		prefix, is := strings.CutSuffix(strings.TrimSuffix(name, "NAME"), "HOST")
		if is && address != "" && hereIs(net.JoinHostPort(variables[name], variables[prefix+"PORT"])) == address {
			return prefix, name
		}
	}
	return "", ""
}

// hereIs is an address, with one spelling for this machine.
func hereIs(address string) string {
	if port, here := strings.CutPrefix(address, "localhost:"); here {
		return "127.0.0.1:" + port
	}
	return address
}

// plainSecret matches names and passwords that stand in a URL as they are.
var plainSecret = regexp.MustCompile(`^[A-Za-z0-9._~-]*$`)

// databaseIn is what tells the target the database, as a template: its URL, or one in the words of another driver, such as
// postgresql+asyncpg: or jdbc:postgresql:, whose address, user and password a run fills in; empty: it is no URL of the database.
func databaseIn(value, database string) string {
	if database == "" || value == "" {
		return ""
	}
	if sameDatabase(value, database) {
		return databaseTemplate
	}
	plain := strings.TrimPrefix(value, "jdbc:")
	theirs, errTheirs := url.Parse(plain)
	ours, errOurs := url.Parse(database)
	if errTheirs != nil || errOurs != nil || theirs.Host == "" || family(theirs.Scheme) != family(ours.Scheme) {
		return ""
	}
	user := ""
	if theirs.User != nil {
		password, _ := ours.User.Password()
		if theirs.User.String() != ours.User.String() || !plainSecret.MatchString(ours.User.Username()+password) {
			return ""
		}
		user = "{{.Database.User}}:{{.Database.Password}}@"
	}
	written := strings.Replace(plain, theirs.Scheme, ours.Scheme, 1)
	if _, isSecret := theirs.Query()["password"]; isSecret || !sameDatabase(written, database) {
		return ""
	}
	_, rest, _ := strings.Cut(plain, theirs.Host)
	return Escape(value[:len(value)-len(plain)]+theirs.Scheme) + "://" + user + "{{.Database.Host}}:{{.Database.Port}}" + Escape(rest)
}

// family is the kind of database that the scheme of a URL names, whatever driver it names.
func family(scheme string) string {
	scheme, _, _ = strings.Cut(scheme, "+")
	switch scheme {
	case "postgres", "postgresql", "psql", "pgsql":
		return "postgres"
	case "mysql", "mysql2", "mariadb":
		return "mysql"
	}
	return scheme
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
	address := hereIs(databases.AddressOf(one))
	return one == other || address != "" && address == hereIs(databases.AddressOf(other)) && a.Path == b.Path
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
		f.Doubt(`By which variable the target learns its port: no variable of the environment and no word of the command has it. So it is started on its own, which must be free; with base_url http://127.0.0.1:0 and process.env: {PORT: "{{.Port}}"} it gets a free one.`)
	}
	if f.Database && !s.Linked {
		f.Doubt(`By which variable the target learns its database: none of the environment has its URL. With process.env: {DATABASE_URL: "{{.Database.URL}}"} its connections can be broken, too.`)
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
