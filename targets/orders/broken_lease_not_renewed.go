package orders

import "time"

// renewedLease is what a claim is good for unless its holder renews it.
const renewedLease = time.Second

// leaseNotRenewedDesign is in-progress-lease-too-short with a lease of 1s, which usual work never needs.
func leaseNotRenewedDesign() Design {
	return Design{
		Name:     "lease-not-renewed",
		Summary:  "claims the key for 1s, does not renew the claim and fences nobody off: a retry executes beside a request that takes longer",
		Contract: turningAway(),
		Key:      requiredKey(),
		Twin:     "lease-renewed",
		Shows:    []string{"duplicate"},
		By:       []string{"long-work"},
		schema:   []string{ordersTable, leasedKeysTable},
		handler:  func(a *api) handler { return needKey(inProgressLeaseTooShort{inProgress409{a, renewedLease}}.create) },
	}
}
