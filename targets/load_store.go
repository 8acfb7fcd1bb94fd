package targets

import (
	"net/url"
	"strings"
)

// store looks at the target's store, and at what a scenario may delete in it.
func (r *reviewer) store() {
	const path = "/store"
	s, p := r.target.Store, r.target.Process
	mentioned := p != nil && p.Tells(".Store.")
	if !s.Declared() {
		if r.doc.Has(path) {
			r.complain(path, "the key \"url\" is missing, or \"ephemeral\" for a store that the harness starts")
		}
		if mentioned {
			r.complain("/process", "there is no store to tell the process of; add store.ephemeral or store.url, or leave {{.Store...}} out")
		}
		return
	}
	switch {
	case s.URL != "" && s.Ephemeral != NoEngine:
		r.complain(path+"/ephemeral", "the store is named by url already; leave one of them out")
	case s.Ephemeral != NoEngine && p == nil:
		r.complain(path+"/ephemeral", "nobody would know of this store: it is for a target that the harness starts, and there is no process")
	case s.Ephemeral != NoEngine && !mentioned:
		r.complain("/process", "nothing tells the process where its store is; put {{.Store.URL}}, or parts of it, into command or env")
	}
	if s.URL != "" {
		r.storeURL(path+"/url", s.URL)
	}
}

// storeURL refuses what is no Redis server that is reached in clear text by TCP.
func (r *reviewer) storeURL(path, text string) {
	const wanted = "expected a URL such as redis://127.0.0.1:6379/0"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		r.complain(path, wanted)
	case strings.EqualFold(u.Scheme, "rediss"):
		r.complain(path, "a store that is reached by TLS (rediss) is not supported; %s", wanted)
	case u.Scheme != "redis" || u.Hostname() == "":
		r.complain(path, wanted)
	}
}
