package targets

// Presets returns the names of the contracts that a target file can begin with.
func Presets() []string { return []string{"ietf", "stripe", "natural-key", "dedup-only"} }

// Preset returns the contract of this name. What it leaves undeclared, its source leaves open.
func Preset(name string) (Contract, bool) {
	c := usual()
	c.Preset = name
	switch name {
	case "":
	case "ietf":
		ietf(&c)
	case "stripe":
		stripe(&c)
	case "natural-key":
		dedupOnly(&c)
		c.Existing = Existing{Signature: Signature{Statuses: []int{409}}}
	case "dedup-only":
		dedupOnly(&c)
	default:
		return Contract{}, false
	}
	return c, true
}

// usual is the contract of a target that says nothing: what it promises simply by having a key.
func usual() Contract {
	return Contract{
		Level:  Idempotent,
		Ack:    Ack{Signature: Signature{Statuses: []int{200, 201, 204}}},
		Replay: Replay{Body: SameJSON},
	}
}

// ietf is draft-ietf-httpapi-idempotency-key-header. Verified in the text of -06 and in excerpts of
// -07: 409 for a concurrent request, 422 for another payload, 400 for a missing key, all of them
// SHOULD; a repetition gets the previous result. Fingerprints are MAY there: a target without them
// overrides on_mismatch. Whether errors are stored is left open, and there is no replay marker.
func ietf(c *Contract) {
	c.Fingerprint = Fingerprint{OnMismatch: MismatchReject, Signature: Signature{Statuses: []int{422}}}
	c.InProgress = InProgress{Mode: InProgressReject, Signature: Signature{Statuses: []int{409}}}
	c.MissingKey = Signature{Statuses: []int{400}}
}

// stripe is Stripe's v1 API. Verified: the same status and body again, errors 500 included; error
// code idempotency_key_in_use while a request runs (a constant of its Go library); error type
// idempotency_error for other parameters; replays carry Idempotent-Replayed: true (seen in
// integrations). Not verified: the status 400 of a mismatch. Validation errors are not stored but
// errors after execution began are, so that 4xx as a whole stays undeclared.
func stripe(c *Contract) {
	c.Fingerprint = Fingerprint{
		OnMismatch: MismatchReject,
		Signature:  Signature{Statuses: []int{400}, Where: map[string]any{"/error/type": "idempotency_error"}},
	}
	c.InProgress = InProgress{
		Mode:      InProgressReject,
		Signature: Signature{Statuses: []int{409}, Where: map[string]any{"/error/code": "idempotency_key_in_use"}},
	}
	c.Replay.Marker = &ReplayMarker{Name: "Idempotent-Replayed", Value: "true"}
	stored := true
	c.Errors.Store5xx = &stored
}

// dedupOnly promises one effect and nothing about the answers. The preset natural-key adds that the
// loser hears 409, as in GoCardless and in Kubernetes; neither is a preset of its own yet.
func dedupOnly(c *Contract) {
	c.Level = DedupOnly
	c.Replay.Body = AnyBody
}
