package orders

import "time"

// dedupWindowTooShortDesign takes a key for a new one when its record is older than a second.
//
// The look for a duplicate has a condition on the time column, so that it reads few rows. A second was
// more than any double click takes. A client that comes back from a tunnel, or a queue that delivers
// again, takes longer, and nothing in the documentation says that there is a window.
func dedupWindowTooShortDesign() Design {
	return Design{
		Name:     "dedup-window-too-short",
		Summary:  "looks for duplicates among the records of the last second only, which it says nowhere: a later retry makes a second order",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"late-retry"},
		schema:   []string{ordersTable, keysTable, keysHaveAge},
		handler:  varied(func(_ *api, p *parts) { p.write = writeFor(time.Second) }),
	}
}
