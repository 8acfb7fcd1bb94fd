package checker_test

import (
	"fmt"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// intent is one intent inside the world.
type intent struct {
	id, marker, ref string
	who             string
	altered         bool
}

// plan is what clients do with their intents.
type plan func(*world)

func (w *world) intent(number int, marker string, withAltered bool) intent {
	i := intent{id: fmt.Sprintf("i%d", number), marker: marker, altered: withAltered}
	i.ref = "ref" + i.id
	intent := history.Intent{ID: i.id, Number: number, Bodies: map[string]history.Body{history.Original: {Marker: marker}}}
	if withAltered {
		intent.Bodies[history.Altered] = history.Body{Marker: marker + "changed"}
	}
	w.story.Intents = append(w.story.Intents, intent)
	return i
}

// send sends one attempt for an intent.
func (w *world) send(i intent, key, body string, probe bool, retry int) *request {
	marker := i.marker
	switch body {
	case history.Altered:
		marker += "changed"
	case history.Invalid:
		marker += "mistaken"
	}
	if w.design.keyless {
		key = ""
	}
	r := w.begin(history.Attempt{
		ID: fmt.Sprintf("%s.%d", i.id, len(w.story.Attempts)), Intent: i.id, Key: key, Body: body, Probe: probe, Retry: retry,
	}, marker, i.ref)
	r.who = i.who
	return r
}

// retries are requests of which each comes after the one before is over.
func retries(w *world) {
	i := w.intent(1, "dtone", false)
	for range 1 + w.IntN(4) {
		w.wait(w.send(i, "k1", history.Original, false, 0))
	}
}

// burst is requests that come together, and maybe one after them.
func burst(w *world) {
	i := w.intent(1, "dtone", false)
	for range 2 + w.IntN(4) {
		w.send(i, "k1", history.Original, false, 0)
		for w.chance(0.4) {
			w.step()
		}
	}
	if w.chance(0.5) {
		w.wait(w.send(i, "k1", history.Original, false, 0))
	}
}

// tabs are requests of one intent with a key each.
func tabs(w *world) {
	i := w.intent(1, "dtone", false)
	for n := range 2 + w.IntN(3) {
		w.send(i, fmt.Sprintf("k%d", 1+n%3), history.Original, false, 0)
		for w.chance(0.7) {
			w.step()
		}
	}
}

// twins are two intents with the same body.
func twins(w *world) {
	for n := range 2 {
		i := w.intent(n, "dttwin", false)
		for range 1 + w.IntN(2) {
			r := w.send(i, "k"+i.id, history.Original, false, 0)
			if w.chance(0.5) {
				w.wait(r)
			}
		}
	}
}

// alteredAfter sends another body after the first one was answered.
func alteredAfter(w *world) {
	i := w.intent(1, "dtone", true)
	for range 1 + w.IntN(2) {
		w.wait(w.send(i, "k1", history.Original, false, 0))
	}
	for range 1 + w.IntN(2) {
		w.wait(w.send(i, "k1", history.Altered, false, 0))
	}
}

// alteredRace sends both bodies together.
func alteredRace(w *world) {
	i := w.intent(1, "dtone", true)
	bodies := []string{history.Original, history.Altered}
	for n := range 2 + w.IntN(3) {
		w.send(i, "k1", bodies[n%2], false, 0)
		for w.chance(0.5) {
			w.step()
		}
	}
}

// play makes one history: what clients do, quiet, T1, the final probe, quiet, T2.
func play(d design, seed uint64) *world {
	w := newWorld(d, seed)
	plans := d.plans
	if plans == nil {
		plans = []plan{retries, burst, twins}
	}
	plans[w.IntN(len(plans))](w)
	w.settle()
	w.calm = true
	w.follow()
	w.story.T1 = w.snapshot()
	w.probe()
	w.settle()
	w.follow()
	w.story.T2 = w.snapshot()
	return w
}

func (w *world) snapshot() *history.Snapshot {
	s := &history.Snapshot{At: w.tick(), Rows: map[string][]history.Row{}}
	for _, i := range w.story.Intents {
		for _, b := range i.Bodies {
			w.story.Before.Rows[b.Marker] = nil
			s.Rows[b.Marker] = []history.Row{}
		}
	}
	for _, f := range w.rows {
		s.Rows[f.marker] = append(s.Rows[f.marker], history.Row{"id": f.id})
	}
	return s
}

// probe asks every key with every body that it was sent with, politely, as the driver does.
func (w *world) probe() {
	type question struct{ intent, key, body string }
	asked := map[question]bool{}
	for _, a := range w.story.Attempts {
		q := question{a.Intent, a.Key, a.Body}
		if asked[q] || a.Body == history.Invalid || a.Key == "" && !w.design.terms.Keyless() {
			continue
		}
		asked[q] = true
		w.ask(w.intentOf(a.Intent), a.Key, a.Body)
	}
}

func (w *world) ask(i intent, key, body string) {
	for try := range 8 {
		r := w.send(i, key, body, true, try)
		w.settle()
		w.wait(r)
		if w.design.terms.Settled(w.story.Attempts[r.index]) {
			return
		}
	}
}

func (w *world) intentOf(id string) intent {
	for _, i := range w.story.Intents {
		if i.ID == id {
			return intent{id: id, marker: i.Bodies[history.Original].Marker, ref: "ref" + id, who: i.Principal}
		}
	}
	return intent{}
}

// damaged reports what is wrong with the rows at T1 or T2, seen without the checker; nothing if all
// is well.
func (w *world) damaged() string {
	if w.design.keyless || w.design.repeats {
		return ""
	}
	for _, s := range []*history.Snapshot{w.story.T1, w.story.T2} {
		if text := w.damagedAt(s); text != "" {
			return text
		}
	}
	return ""
}

func (w *world) damagedAt(s *history.Snapshot) string {
	rows := 0
	for _, of := range s.Rows {
		rows += len(of)
	}
	told, possible := map[string]bool{}, map[string]bool{}
	for _, a := range w.story.Attempts {
		if a.End > s.At {
			continue
		}
		switch w.design.terms.Classify(a) {
		case checker.Acknowledged:
			told[a.Intent], possible[a.Intent] = true, true
			if text := w.untrue(a, s); text != "" {
				return text
			}
		case checker.Unknown, checker.Accepted, checker.Declined:
			possible[a.Intent] = true
		}
	}
	switch {
	case rows > len(w.story.Intents):
		return fmt.Sprintf("%d rows of %d intents", rows, len(w.story.Intents))
	case rows < len(told):
		return fmt.Sprintf("%d rows of %d acknowledged intents", rows, len(told))
	case rows > len(possible):
		return fmt.Sprintf("%d rows of %d intents that were not refused", rows, len(possible))
	}
	return ""
}

// untrue reports that an acknowledgement tells of content that is in no row.
func (w *world) untrue(a history.Attempt, s *history.Snapshot) string {
	for marker, rows := range s.Rows {
		if strings.Contains(a.Content, fmt.Sprintf("%q", marker)) && len(rows) == 0 {
			return fmt.Sprintf("attempt %s was told of %s, and there is no such row", a.ID, marker)
		}
	}
	return ""
}
