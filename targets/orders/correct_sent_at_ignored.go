package orders

// sentAtIgnoredDesign compares what makes an order another one, and not when the request for it was sent.
func sentAtIgnoredDesign() Design {
	return Design{
		Name:     "sent-at-ignored",
		Summary:  "leaves the time at which a request was sent out of the comparison: a retry with another one gets the first answer",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		describe: stamped,
		handler: varied(func(_ *api, p *parts) {
			p.fingerprint = func(req request) string {
				members, err := readObject(req.Body)
				if err != nil {
					panic(err) // it was read before
				}
				canonical(members)
				delete(members, "sent_at")
				return fingerprintOf(members)
			}
		}),
	}
}
