package cmd

import (
	"errors"
	"net/url"

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
	if !loopback(u.Hostname()) {
		return "", mistakef("%s points to %s, which is not this machine\na built-in target takes only servers on this machine", from, u.Hostname())
	}
	return store, nil
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
