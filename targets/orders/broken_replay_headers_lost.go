package orders

// replayHeadersLostDesign keeps the body of an answer and forgets its headers.
//
// The body looked like the whole answer. But the way to the order stands in Location, and a client
// that lost the first answer, and follows that header on its retry, finds none.
func replayHeadersLostDesign() Design {
	return Design{
		Name:     "replay-headers-lost",
		Summary:  "keeps only status and body of an answer: a replay has no Location",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"replay-mismatch"},
		By:       []string{"sequential-replay"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = retold(withoutLocation) }),
	}
}

func withoutLocation(first answer) answer {
	return answer{Status: first.Status, Body: first.Body, Header: map[string]string{"Content-Type": first.Header["Content-Type"]}}
}
