package driver

import (
	"errors"
	"io"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// keysOf returns the keys that an intent's requests may carry, as far as what they are matters.
func (r *requests) keysOf(i scenarios.PlannedIntent) []string {
	switch key := r.config.operation(i).Key; {
	case key.In == contract.KeyNowhere:
		return []string{""}
	case len(key.Issued) == 0:
		return []string{key.Shaped(r.config.Names.Key("", ""))}
	}
	keys := []string{""}
	for _, name := range keyNames(i) {
		keys = append(keys, r.issued[issuedKey{i.ID, name}])
	}
	return keys
}

// sendable says why a request cannot go on the wire. It is asked before anything is sent: an attempt
// that breaks on its way there would be missing in the history.
func (r *requests) sendable(one rendered, a history.Attempt) error {
	request, err := one.withKey(a)
	if err == nil {
		err = one.operation.Sign(&request, basePath(r.config.Target), a.Key, time.Now())
	}
	if err != nil {
		return err
	}
	const id = "id"
	target := vegetaTarget(r.config.Target, request, id)
	onWire, err := target.Request()
	if err != nil {
		return err
	}
	if onWire.URL.Fragment != id {
		return errors.New("the path holds a #, and what follows that never reaches a server")
	}
	return onWire.Write(io.Discard)
}
