package targets

import (
	"net/url"
	"strings"
)

// store looks at the target's store, and at what a scenario may delete in it.
func (v *validator) store() {
	const path = "/store"
	s, p := v.target.Store, v.target.Process
	mentioned := p != nil && p.Tells(".Store.")
	if !s.Declared() {
		if v.doc.Has(path) {
			v.addMistake(path, "the key \"url\" is missing, or \"ephemeral\" for a store that the harness starts")
		}
		if mentioned {
			v.addMistake("/process", "{{.Store...}} has no value; add store.ephemeral or store.url, or leave it out")
		}
		return
	}
	switch {
	case s.URL != "" && s.Ephemeral != NoEngine:
		v.addMistake(path+"/ephemeral", "the store is named by url already; leave one of them out")
	case s.Ephemeral != NoEngine && p == nil:
		v.addMistake(path+"/ephemeral", "an ephemeral store needs process: only a target that the harness starts gets its address")
	case s.Ephemeral != NoEngine && !mentioned:
		v.addMistake("/process", "the process does not get the address of its store; put {{.Store.URL}}, or parts of it, into command or env")
	}
	if s.URL != "" {
		storeURL(v, path+"/url", s.URL)
	}
}

// storeURL refuses what is no Redis server that is reached in clear text by TCP.
func storeURL(v *validator, path, text string) {
	const wanted = "expected a URL such as redis://127.0.0.1:6379/0"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		v.addMistake(path, wanted)
	case strings.EqualFold(u.Scheme, "rediss"):
		v.addMistake(path, "a store that is reached by TLS (rediss) is not supported; %s", wanted)
	case u.Scheme != "redis" || u.Hostname() == "":
		v.addMistake(path, wanted)
	}
}
