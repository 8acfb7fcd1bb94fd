package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/doubletap-harness/doubletap/internal/ephemeral"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/caches"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// storeVariable holds the URL of the Redis server of a built-in target where no flag gives one.
const storeVariable = "DOUBLETAP_STORE"

// storeUsage is the flag's line in the help.
const storeUsage = "Redis server of a built-in target that takes one: redis://HOST:PORT/NUMBER (default $" + storeVariable + ")"

// storeOf is the Redis server of a built-in target: what the flag says, else the variable; empty: none. Its
// keys are the harness's to make and remove, so it has to be on this machine.
func storeOf(flag string, s streams) (string, error) {
	store, from := flag, "--store"
	if store == "" {
		store, _ = s.getenv(storeVariable)
		from = storeVariable
	}
	if store == "" {
		return "", nil
	}
	u, err := url.Parse(store)
	if err != nil || u.Scheme != "redis" || u.Hostname() == "" { // the error would show the password
		return "", mistakef("%s is no URL of a Redis server; expected something like redis://127.0.0.1:6379/0", from)
	}
	return store, localServers(allowlist(nil).foreign(from, u.Hostname()))
}

// noStore says what a design misses.
func noStore(design string) error {
	return mistakef("%s keeps its keys or its locks in Redis; expected a server, as in --store redis://127.0.0.1:6379/0 or $%s", design, storeVariable)
}

// blame says whose fault it is that a built-in target does not start: there may be no such design, or no
// server that it takes.
func blame(design string, err error) error {
	switch {
	case errors.Is(err, orders.ErrNoStore):
		return noStore(design)
	case knownDesign(design):
		return surroundings(err)
	default:
		return mistake(err)
	}
}

// noStoreAtAll says why nothing can be wrong with a store.
const noStoreAtAll = "the target has no store"

// storeless says why nothing can be deleted in a store where there is none; empty: there is one.
func (s *subject) storeless() string {
	if s.target.Store.Declared() {
		return ""
	}
	if s.builtIn() {
		return noStoreAtAll
	}
	return "the target file names no store (store)"
}

// startStore starts the private store that a target file asks for.
func (s *subject) startStore(ctx context.Context) error {
	if s.target.Store.Ephemeral == targets.NoEngine {
		return nil
	}
	started, err := ephemeral.Redis(ctx)
	if err != nil {
		return surroundings(fmt.Errorf("%s: store.ephemeral: %w", s.name, err))
	}
	s.started.store, s.target.Store.URL = started, started.URL()
	return nil
}

// storeForProcess is the store as the process is told it: by the link, if one was planned.
func (s *subject) storeForProcess(ctx context.Context) (targets.StorePlace, error) {
	where := targets.StorePlace{URL: s.target.Store.URL}
	if where.URL == "" {
		return where, nil
	}
	to, err := caches.AddressOf(where.URL)
	if err != nil {
		return where, mistakef("%s: store.url: %w", s.name, err)
	}
	if s.ownLinks[storeLink] {
		link, err := s.openOwnLink(ctx, storeLink, to)
		if err != nil {
			return where, err
		}
		s.target.Links[storeLink] = link
		if where.URL, err = caches.Through(where.URL, link.Listen); err != nil {
			return where, mistakef("%s: store.url: %w", s.name, err)
		}
	}
	u, err := url.Parse(where.URL)
	if err != nil {
		return where, mistakef("%s: store.url cannot be parsed", s.name)
	}
	where.Host, where.Port, where.User = u.Hostname(), cmp.Or(u.Port(), "6379"), u.User.Username()
	where.Password, _ = u.User.Password()
	return where, nil
}
