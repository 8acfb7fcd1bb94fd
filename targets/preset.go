package targets

import "github.com/doubletap-harness/doubletap/contract"

// preset is a contract by name: what it changes of the usual one.
type preset struct {
	name    string
	declare func(*contract.Contract)
}

// presets lists the known contracts in the order in which they are offered. The schema lists the same
// names, and a test compares them.
func presets() []preset {
	return []preset{
		{name: "ietf", declare: ietf},
		{name: "stripe", declare: stripe},
		{name: "paypal", declare: paypal},
		{name: "adyen", declare: adyen},
		{name: "square", declare: square},
		{name: "gocardless", declare: goCardless},
		{name: "aws", declare: aws},
		{name: "aip-155", declare: aip155},
		{name: "natural-key", declare: naturalKey},
		{name: "dedup-only", declare: dedupOnly},
	}
}

// Presets returns the names of the contracts that a target file can begin with.
func Presets() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.name)
	}
	return names
}

// Preset returns the contract of this name; without a name, the one of a target that says nothing.
// What it leaves undeclared, its source leaves open.
func Preset(name string) (contract.Contract, bool) {
	c := usual()
	if name == "" {
		return c, true
	}
	for _, p := range presets() {
		if p.name == name {
			c.Preset = name
			p.declare(&c)
			return c, true
		}
	}
	return contract.Contract{}, false
}

// usual is the contract of a target that says nothing: what it promises simply by having a key.
func usual() contract.Contract {
	return contract.Contract{
		Level:  contract.Idempotent,
		Ack:    contract.Ack{Signature: contract.Signature{Statuses: []int{200, 201, 204}}},
		Replay: contract.Replay{Body: contract.SameJSON},
	}
}

// ietf is draft-ietf-httpapi-idempotency-key-header. Verified in the text of -06 and in excerpts of
// -07: 409 for a concurrent request, 422 for another payload, 400 for a missing key, all of them
// SHOULD; a repetition gets the previous result. Fingerprints are MAY there: a target without them
// overrides on_mismatch. Whether errors are stored is left open, and there is no replay marker.
func ietf(c *contract.Contract) {
	c.Fingerprint = contract.Fingerprint{OnMismatch: contract.MismatchReject, Signature: contract.Signature{Statuses: []int{422}}}
	c.InProgress = contract.InProgress{Mode: contract.InProgressReject, Signature: contract.Signature{Statuses: []int{409}}}
	c.MissingKey = contract.Signature{Statuses: []int{400}}
}

// naturalKey promises one effect for what the body names, and that the loser hears 409. It is the
// design of a unique index, not one provider's; Kubernetes answers so, from general knowledge.
func naturalKey(c *contract.Contract) {
	dedupOnly(c)
	c.Existing = contract.Existing{Signature: contract.Signature{Statuses: []int{409}}}
}

// dedupOnly promises one effect and nothing about the answers.
func dedupOnly(c *contract.Contract) {
	c.Level = contract.DedupOnly
	c.Replay.Body = contract.AnyBody
}
