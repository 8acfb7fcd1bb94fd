package explain

import (
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/targets"
)

// keys says which keys are different keys.
func (x *explainer) keys() {
	if !x.keyed() {
		return
	}
	if !x.chosen() {
		issued(x)
		return
	}
	keyFormat(x)
	if x.operation.Key.In != contract.KeyInPath && !x.operation.Rows.ByKey() {
		x.held("key", "A request with a blank key does not get what another request with a blank key created")
	}
	x.weakened("key", "A key of an unusual form may be refused instead")
}

// keyFormat says in what two keys may differ and still be two. A key that cannot be sent so is not
// tried.
func keyFormat(x *explainer) {
	key := x.operation.Key
	if key.Format == contract.OnlyUUID {
		x.notChecked("key.format: uuid", "Whether keys that hardly differ are two keys, because only a UUID is a key")
		return
	}
	if key.Like != "" {
		x.notChecked("key.like", "Whether keys that hardly differ are two keys, because only what has the form of %s is a key", key.Like)
		return
	}
	var parts []string
	if key.FoldCase {
		x.notChecked("key.fold_case", "Whether keys that differ only in case are one key")
	} else {
		parts = append(parts, "in case")
	}
	if keepsSpace(key) {
		parts = append(parts, "in a space at the end")
	} else {
		x.notChecked("key.in: header", "Whether a space at the end makes another key, because a header that is not quoted does not keep it")
	}
	parts = append(parts, "in a quotation mark", "beyond the 300th character")
	x.held("key", "Two keys that differ only %s are two keys", english.List(parts, "or"))
}

// keepsSpace reports that a space at the end of a key reaches the target.
func keepsSpace(k targets.Key) bool { return k.In != contract.KeyInHeader || k.Quoted }

// optionalKey says what is checked of requests without a key where the key is optional.
func (x *explainer) optionalKey() {
	switch {
	case x.natural():
		x.notChecked("natural_key", "What requests without a key create, because the natural key decides whether they are one intent")
	case x.contract.ContentWindow > 0:
		x.notChecked("content_window", "What becomes of requests without a key, because their bodies may make them repetitions")
	default:
		x.held("key.required", "Every request without a key is an intent of its own, even if its body equals that of another one")
	}
}
