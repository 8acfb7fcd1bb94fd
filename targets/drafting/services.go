package drafting

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Service is another service that the environment seems to name. Sinks can stand in its place.
type Service struct {
	Variable string // that leads to it; its value is not kept
	Kind     string // of the sink: http, smtp, otlp, redis or rabbitmq
}

// mostServices is how many are offered.
const mostServices = 8

// Services finds variables that look like the addresses of other services among lines such as NAME=value, as an environment and
// .env files have them. The target itself, at its base URL, is none.
func Services(lines []string, base string) []Service {
	var found []Service
	for _, line := range lines {
		name, value, is := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		s := Service{name, brokerKind(value)}
		if !is || !variableName.MatchString(name) || (s.Kind == "" || strings.HasPrefix(name, "DOUBLETAP_")) && ownBusiness.MatchString(name) {
			continue
		}
		if s.Kind == "" {
			s.Kind = serviceKind(name, value, base)
		}
		if s.Kind != "" && !slices.ContainsFunc(found, func(f Service) bool { return f.Variable == name }) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b Service) int { return cmp.Compare(a.Variable, b.Variable) })
	return found[:min(len(found), mostServices)]
}

var (
	variableName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	// ownBusiness are variables of tools, and of what has links and no sinks.
	ownBusiness = regexp.MustCompile(`PROXY|^(GITHUB|CI|RUNNER|NPM|NODE|PIP|UV|CARGO|RUSTUP|GO|JAVA|MAVEN|SSH|XDG|AWS_LAMBDA|KUBERNETES|DOCKER|DOUBLETAP)_|DATABASE|POSTGRES|MYSQL|MARIADB|REDIS|^PG`)
	mailServer  = regexp.MustCompile(`(SMTP|MAIL).*_(HOST|URL|SERVER|ADDR|ADDRESS)$|^(SMTP|MAIL)(HOST|URL|SERVER)$`)
	webService  = regexp.MustCompile(`_(URL|URI|ENDPOINT|BASE|HOST|API)$`)
)

// brokerKind is the kind of the sink for messages at the URL of a broker; empty: it is none.
func brokerKind(value string) string {
	scheme, rest, _ := strings.Cut(value, "://")
	kinds := map[string]string{"redis": "redis", "rediss": "redis", "amqp": "rabbitmq", "amqps": "rabbitmq"}
	if rest == "" {
		return ""
	}
	return kinds[scheme]
}

// serviceKind is the kind of the sink for what a variable leads to; empty: it does not look like a service.
func serviceKind(name, value, base string) string {
	u, err := url.Parse(value)
	web := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	switch {
	case value == "":
		return ""
	case strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") && strings.HasSuffix(name, "ENDPOINT"):
		return "otlp"
	case mailServer.MatchString(name) && !web, err == nil && (u.Scheme == "smtp" || u.Scheme == "smtps"):
		return "smtp"
	case !web || !webService.MatchString(name):
		return ""
	}
	if own, err := url.Parse(base); err == nil && own.Host == u.Host {
		return ""
	}
	return "http"
}

// elsewhere writes sinks for the other services, as a comment: whether they are asked for a create is not known.
func (f *File) elsewhere() {
	if len(f.Services) == 0 {
		return
	}
	f.remark("", "Does a create call another service, send a mail, or publish a message? A sink counts that: docs/effects.md. Give your service the sink's address, and the operation an effect, such as effects: [{name: receipt, seen: mail}].")
	f.line("# sinks:")
	for n, s := range f.Services {
		listen, told := fmt.Sprintf("listen: 127.0.0.1:%d, ", 19090+n), ""
		if f.Start != nil {
			listen, told = "", "; process.env: {"+s.told()+"}"
		}
		switch s.Kind {
		case "redis":
			f.line("#   %s: {redis: {url: \"${%s}\", stream: orders}} # if it publishes there; or list:, or channel:%s", sinkName(s), s.Variable, told)
		case "rabbitmq":
			f.line("#   %s: {rabbitmq: {url: \"${%s}\", exchange: orders}} # if it publishes there; or queue:%s", sinkName(s), s.Variable, told)
		default:
			f.line("#   %s: {%s%s: {%s}} # in place of %s%s", sinkName(s), listen, s.Kind, s.provider(), s.Variable, told)
		}
	}
}

// told are the variables of a process by which it learns of the sink: a host has its port in a variable of its own.
func (s Service) told() string {
	if begin, host := strings.CutSuffix(s.Variable, "HOST"); host {
		return fmt.Sprintf(`%s: "{{.Sink.%s.Host}}", %sPORT: "{{.Sink.%[2]s.Port}}"`, s.Variable, sinkName(s), begin)
	}
	if s.Kind == "smtp" && !strings.HasSuffix(s.Variable, "URL") {
		return fmt.Sprintf(`%s: "{{.Sink.%s.Host}}:{{.Sink.%[2]s.Port}}"`, s.Variable, sinkName(s))
	}
	return fmt.Sprintf(`%s: "{{.Sink.%s.URL}}"`, s.Variable, sinkName(s))
}

// provider is the key of a sink for a service whose answers are known; empty: they are not.
func (s Service) provider() string {
	for _, name := range []string{"stripe", "paypal", "adyen"} {
		if s.Kind == "http" && strings.Contains(strings.ToLower(s.Variable), name) {
			return "provider: " + name
		}
	}
	return ""
}

// sinkName is a name for a sink: what its variable says, without where.
func sinkName(s Service) string {
	switch s.Kind {
	case "smtp":
		if s.Variable == "SMTP_HOST" || s.Variable == "SMTP_URL" {
			return "mail"
		}
	case "otlp":
		return "spans"
	}
	name := strings.ToLower(s.Variable)
	for _, end := range []string{"_url", "_uri", "_endpoint", "_base", "_host", "_server", "_address", "_addr", "_api"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}
