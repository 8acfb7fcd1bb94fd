package orders

// replayOriginalDesign compares no bodies, and says so: a key means its first body, whatever comes
// with it later.
func replayOriginalDesign() Design {
	return Design{
		Name:     "replay-original",
		Summary:  "compares only the key, as its contract says: another body with a used key gets the first answer",
		Correct:  true,
		Contract: loose(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = replayAnyway }),
	}
}
