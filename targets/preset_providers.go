package targets

import (
	"time"

	"github.com/doubletap-harness/doubletap/contract"
)

// The contracts of providers. "Verified" is what a stored copy of the provider's documentation or
// library says, which may be older than the live page; "not verified" is general knowledge. Where the
// key travels is said by the operation, not by the contract. No preset says whether principals
// share keys: they do where they are of one account, which only the target file knows.

// stripe is Stripe's v1 API. Verified: the same status and body again, errors 500 included; error
// code idempotency_key_in_use while a request runs (a constant of its Go library); error type
// idempotency_error for other parameters; replays carry Idempotent-Replayed: true (seen in
// integrations). Not verified: the status 400 of a mismatch. Validation errors are not stored but
// errors after execution began are, so that 4xx as a whole stays undeclared. Verified again: a key is
// remembered for 24 hours at least, and executed as a new one once it is forgotten; at another endpoint
// it is an idempotency_error. Left out: a key belongs to an account and its mode.
func stripe(c *contract.Contract) {
	c.Fingerprint = contract.Fingerprint{
		OnMismatch: contract.MismatchReject,
		Signature:  contract.Signature{Statuses: []int{400}, Where: map[string]any{"/error/type": "idempotency_error"}},
	}
	c.InProgress = contract.InProgress{
		Mode:      contract.InProgressReject,
		Signature: contract.Signature{Statuses: []int{409}, Where: map[string]any{"/error/code": "idempotency_key_in_use"}},
	}
	c.Replay.Marker = &contract.ReplayMarker{Name: "Idempotent-Replayed", Value: "true"}
	stored := true
	c.Errors.Store5xx = &stored
	c.Scope.Operation = contract.ScopeReject
	c.Expiry = contract.Expiry{After: contract.Duration(24 * time.Hour), Then: contract.ExpiryExecute}
}

// paypal is PayPal's REST APIs, with the header PayPal-Request-Id. Verified: a repetition gets "the
// latest status of the previous request", so that only the identity is compared; 201 becomes 200 when
// the resource was there already; of two simultaneous requests the second may fail; 409 with the issue
// PREVIOUS_REQUEST_IN_PROGRESS and 422 with PAYPAL_REQUEST_ID_PREVIOUSLY_USED ("for another request")
// in the published error schemas. Not verified: that the issue stands first in details; older APIs say
// DUPLICATE_REQUEST_ID instead. Left out: how long an id is stored differs by API; a request without
// one is executed again, which is the operation's key.required.
func paypal(c *contract.Contract) {
	const issue = "/details/0/issue"
	c.Fingerprint = contract.Fingerprint{
		OnMismatch: contract.MismatchReject,
		Signature:  contract.Signature{Statuses: []int{422}, Where: map[string]any{issue: "PAYPAL_REQUEST_ID_PREVIOUSLY_USED"}},
	}
	c.InProgress = contract.InProgress{
		Mode:      contract.InProgressReject,
		Signature: contract.Signature{Statuses: []int{409}, Where: map[string]any{issue: "PREVIOUS_REQUEST_IN_PROGRESS"}},
	}
	c.Replay.Body = contract.SameIdentity
	c.Replay.Status = map[int][]int{201: {200}}
}

// adyen is Adyen's payment APIs, with the header idempotency-key. Verified: a repetition gets the
// response to the first attempt. Not verified, and so undeclared: 422 for another body, and what a
// request gets while the first one runs, of which the documentation says only that it is an error to
// be retried. An older copy has keys kept for 31 days at least, and does not say what follows. Left out:
// they belong to the company account and are not compared between regions; transient errors are flagged
// in a header for a retry; the answer echoes the key, which a marker with one fixed value cannot express.
func adyen(c *contract.Contract) { c.Replay.Body = contract.SameJSON }

// square is Square's APIs, with the member idempotency_key in the body. Verified: a repetition gets
// the response of the first successful request, and another request with the key gets an error, though
// that "might vary depending on the API". Not verified: the error's status 400 and its code
// IDEMPOTENCY_KEY_REUSED. Unknown, and so undeclared: concurrent requests, whether errors are stored,
// and how long keys are kept. Not verified, and so undeclared too: that each endpoint has its own keys.
func square(c *contract.Contract) {
	c.Fingerprint = contract.Fingerprint{
		OnMismatch: contract.MismatchReject,
		Signature:  contract.Signature{Statuses: []int{400}, Where: map[string]any{"/errors/0/code": "IDEMPOTENCY_KEY_REUSED"}},
	}
}

// goCardless is GoCardless's API, with the header Idempotency-Key. Verified: there is no replay; once
// something was created with a key, the key gets 409 invalid_state with the reason
// idempotent_creation_conflict and links.conflicting_resource_id (announcement and Ruby library). Not
// verified: that this reason stands first in errors. Another body with a used key gets 409 as well,
// and no answer distinguishes the two, so that fingerprint stays undeclared. Unknown, and so undeclared:
// concurrent requests, and how long keys are kept. Left out: that a failed request may be repeated.
func goCardless(c *contract.Contract) {
	dedupOnly(c)
	c.Existing = contract.Existing{
		Signature: contract.Signature{Statuses: []int{409}, Where: map[string]any{"/error/errors/0/reason": "idempotent_creation_conflict"}},
		Identity:  contract.Identity{JSON: "/error/errors/0/links/conflicting_resource_id"},
	}
}

// aws is the client tokens of AWS services. Verified in the guide of EC2: a repetition completes
// successfully without further action and may show updated information, so that only the identity is
// compared; other parameters are an error, IdempotentParameterMismatch in EC2 and 409 in others (IoT
// Wireless). Not verified: that EC2's error has status 400, which counts as a refusal all the same; it
// comes as XML, into which where cannot look. Unknown, and so undeclared: concurrent requests, and
// whether errors are stored. Left out: a token is kept for 8 hours in some services and then executed
// again, and for longer in others. Not verified, and so undeclared: that it belongs to one operation.
func aws(c *contract.Contract) {
	c.Fingerprint = contract.Fingerprint{OnMismatch: contract.MismatchReject, Signature: contract.Signature{Statuses: []int{409}}}
	c.Replay.Body = contract.SameIdentity
}

// aip155 is Google's AIP-155, with the member request_id in the body. Verified: a duplicate SHOULD get
// the response of the previous success and MAY get the current state of the resource instead, so that
// only the identity is compared. It says nothing about other bodies, concurrent requests and errors,
// and of the time for which an id is honoured only that it is reasonable. That an id is a UUID is the
// operation's key.format.
func aip155(c *contract.Contract) { c.Replay.Body = contract.SameIdentity }
