package driver

import (
	"maps"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
)

// masked stands in records where a secret was.
const masked = "***"

// secretHeaders are masked for every target.
func secretHeaders() []string {
	return []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key"}
}

// shortestSecret is the length from which a principal's value is masked wherever it stands: shorter
// ones, such as a tenant's number, would tear holes into everything.
const shortestSecret = 8

func (d *Driver) mask(b history.Body) history.Body {
	b.Header, b.Path, b.Content = d.maskHeader(b.Header), d.maskText(b.Path), d.maskText(b.Content)
	return b
}

func (d *Driver) maskAnswer(a history.Attempt) history.Attempt {
	a.Header, a.Content, a.Error = d.maskHeader(a.Header), d.maskText(a.Content), d.maskText(a.Error)
	return a
}

func (d *Driver) maskHeader(header map[string]string) map[string]string {
	safe := maps.Clone(header)
	for name, value := range safe {
		safe[name] = d.maskText(value)
		for _, secret := range append(secretHeaders(), d.Target.Redact...) {
			if strings.EqualFold(name, secret) {
				safe[name] = masked
			}
		}
	}
	return safe
}

func (d *Driver) maskText(text string) string {
	for _, value := range d.Principal {
		if len(value) >= shortestSecret {
			text = strings.ReplaceAll(text, value, masked)
		}
	}
	return text
}
