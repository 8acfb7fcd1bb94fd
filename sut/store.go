package sut

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/caches"
)

// forgetTimeout is how long a store may take to delete what a run has left in it.
const forgetTimeout = 10 * time.Second

// StoreOption is the Redis server of a built-in target: what the option says, else the variable; empty: none. Its
// keys are doubletap's to make and remove, so it has to be on this machine.
func (o Options) StoreOption() (string, error) {
	store, from := o.Store, "--store"
	if store == "" {
		store, _ = o.env(StoreVariable)
		from = StoreVariable
	}
	if store == "" {
		return "", nil
	}
	u, err := url.Parse(store)
	if err != nil || u.Scheme != "redis" || u.Hostname() == "" { // the error would show the password
		return "", runerror.Configf("%s is no URL of a Redis server; expected something like redis://127.0.0.1:6379/0", from)
	}
	return store, Local(from, u.Hostname())
}

// NoStore says what a design misses.
func NoStore(design string) error {
	return runerror.Configf("%s keeps its keys or its locks in Redis; expected a server, as in --store redis://127.0.0.1:6379/0 or $%s", design, StoreVariable)
}

// storeless says why nothing can be deleted in a store where there is none; empty: there is one.
func storeless(s *System) string {
	if s.Target.Store.Declared() {
		return ""
	}
	if s.BuiltIn() {
		return noStoreAtAll
	}
	return "the target file names no store (store)"
}

// startStore starts the private store that a target file asks for.
func (s *System) startStore(ctx context.Context) error {
	if s.Target.Store.Ephemeral == targets.NoEngine {
		return nil
	}
	if s.options.Parts.Ephemeral == nil {
		return noEphemeral(s.Name, "store.ephemeral")
	}
	started, err := s.options.Parts.Ephemeral.Redis(ctx)
	if err != nil {
		return runerror.Environment(fmt.Errorf("%s: store.ephemeral: %w", s.Name, err))
	}
	s.Target.Store.URL = started.URL()
	s.onClose(started.Close)
	return nil
}

// noEphemeral says that this program was built without private servers.
func noEphemeral(name, key string) error {
	return runerror.Configf("%s: %s takes the doubletap command, or Parts of the package sut/builtin; this program has no private servers", name, key)
}

// storeForProcess is the store as the process is told it: by the link, if one was planned.
func storeForProcess(ctx context.Context, s *System) (targets.StorePlace, error) {
	where := targets.StorePlace{URL: s.Target.Store.URL}
	if where.URL == "" {
		return where, nil
	}
	to, err := caches.AddressOf(where.URL)
	if err != nil {
		return where, runerror.Configf("%s: store.url: %w", s.Name, err)
	}
	if s.Links.planned[storeLink] {
		link, err := s.openPlanned(ctx, storeLink, to)
		if err != nil {
			return where, err
		}
		s.Target.Links[storeLink] = link
		if where.URL, err = caches.Through(where.URL, link.Listen); err != nil {
			return where, runerror.Configf("%s: store.url: %w", s.Name, err)
		}
	}
	u, err := url.Parse(where.URL)
	if err != nil {
		return where, runerror.Configf("%s: store.url cannot be parsed", s.Name)
	}
	where.Host, where.Port, where.User = u.Hostname(), cmp.Or(u.Port(), "6379"), u.User.Username()
	where.Password, _ = u.User.Password()
	return where, nil
}

// forget deletes the keys that a served design has left in a store that is not its own.
// Those begin with a prefix of this run, so that nothing of another is deleted.
func forget(left targets.Store) error {
	if !left.Declared() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), forgetTimeout)
	defer cancel()
	store, err := caches.Open(ctx, left.URL)
	if err != nil {
		return err
	}
	_, err = store.Flush(ctx, left.Flush)
	return err
}
