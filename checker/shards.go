package checker

// CheckShards judges a scenario whose intents several runs have sent, each with a history of its own, as one: every history by
// itself, and what was exercised in all of them together. A total that is wrong in one is a doubt, as another run may have changed it.
func CheckShards(shards []Parts, t Terms, known ...KnownBug) (Result, error) {
	var all []*whole
	for _, p := range shards {
		w := newWhole(p, t, known)
		err := w.judge()
		if err == nil {
			err = w.close()
		}
		if err != nil {
			return Result{}, err
		}
		all = append(all, w)
	}
	return joined(all).assemble(), nil
}

// joined is several runs as one.
func joined(all []*whole) *whole {
	first := all[0]
	w := &whole{head: first.head, terms: first.terms, known: first.known, sum: newTally(first.known), shards: all, facts: facts{sessions: map[string]*session{}}}
	for _, run := range all {
		w.add(run.sum)
		w.attempts, w.sent, w.silent, w.every = w.attempts+run.attempts, w.sent+run.sent, w.silent+run.silent, w.every || run.every
		for who, s := range run.sessions {
			w.sessions[who] = s
		}
	}
	return w
}

// runs are those that share the intents, or the only one.
func (w *whole) runs() []*whole {
	if len(w.shards) > 0 {
		return w.shards
	}
	return []*whole{w}
}

// ofShard puts the name of a shard before a text about it.
func ofShard(w *whole, text string) string {
	if w.head.Run.Shard == "" {
		return text
	}
	return "shard " + w.head.Run.Shard + ": " + text
}
