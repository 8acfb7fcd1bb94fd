package orders

import "github.com/doubletap-harness/doubletap/targets"

// fingerprintSentAtDesign compares whole bodies, and its clients say in them when they sent them.
//
// The member is for the statistics. Every attempt has its own, so that no retry is like the first request, and each
// is refused.
func fingerprintSentAtDesign() Design {
	return Design{
		Name:     "fingerprint-sent-at",
		Summary:  "compares the time at which a request was sent: every retry is refused as another request",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "sent-at-ignored",
		Shows:    []string{"false-conflict", "replay-mismatch"},
		By:       []string{"retry-elsewhere", "sequential-replay"},
		schema:   []string{ordersTable, keysTable},
		describe: stamped,
		handler:  varied(func(*api, *parts) {}),
	}
}

// stamped describes requests that say when they were sent.
func stamped(o *targets.Operation, _ kind) {
	o.Request.Body["sent_at"] = "{{.Attempt.Time}}"
	o.Volatile = []string{"/sent_at"}
}
