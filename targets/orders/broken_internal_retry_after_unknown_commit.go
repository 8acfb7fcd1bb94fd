package orders

import (
	"context"
	"time"
)

// internalRetryAfterUnknownCommit runs its unit of work again when the connection to the database breaks.
//
// Connections break, and a request should not fail for that: so says the retry policy, of an object mapper
// or a driver, and it is right for whatever has left no trace. Of a transaction whose commit was sent and
// whose answer was lost nobody knows that. It was committed, as a rule, and is executed a second time.
// Claim, lease and token keep other requests out, and nothing keeps this one from meeting itself: who
// completes the record is not asked whether it is complete.
type internalRetryAfterUnknownCommit struct{ inProgress409 }

// How often and when the policy tries again.
const (
	internalTries = 20
	internalPause = 25 * time.Millisecond
)

func internalRetryAfterUnknownCommitDesign() Design {
	return Design{
		Name:     "internal-retry-after-unknown-commit",
		Summary:  "runs its transaction again when the connection to the database breaks: if the commit's answer was lost, there are two orders",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "lease-renewed",
		Shows:    []string{"duplicate"},
		By:       []string{"database-cut"},
		On:       []string{"postgres", "mariadb"},
		schema:   []string{ordersTable, leasedKeysTable},
		handler: func(a *api) handler {
			return needKey(internalRetryAfterUnknownCommit{inProgress409{a, lease + a.effort}}.create)
		},
	}
}

func (i internalRetryAfterUnknownCommit) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	refusal, err := i.claim(ctx, req, newID("claim_"))
	if err != nil || refusal.Status != 0 {
		return refusal, err
	}
	for try := 1; ; try++ {
		reply, err := i.executeClaimed(ctx, req)
		if err == nil || try == internalTries {
			return reply, err
		}
		time.Sleep(internalPause)
	}
}
