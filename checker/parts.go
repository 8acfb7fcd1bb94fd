package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// Parts is a history that is judged part by part, so that only a few parts are in memory at a time. Intents with one marker, or
// that are neighbours, are in one part. Safe for concurrent use.
type Parts interface {
	// Head returns what is not of one intent: the run, steps, crashes, snapshots without rows and so on.
	Head() *history.History
	// Several reports that more than one principal sent requests.
	Several() bool
	// Len returns how many parts there are, at least 1.
	Len() int
	// Part returns some intents with all that is of them, and what Head returns.
	Part(i int) (*history.History, error)
}

// one is a history in one part.
type one struct{ *history.History }

// Head returns all of it: rules that look at what is not of one intent pass over the rest.
func (o one) Head() *history.History { return o.History }

// Len returns 1.
func (o one) Len() int { return 1 }

// Part returns all of it, and cannot fail.
func (o one) Part(int) (*history.History, error) { return o.History, nil }

// CheckParts judges a history as [Check] does. Parts are read by all cores, most of them once: a second time where a rule asks
// something of all intents that was not known yet.
func CheckParts(p Parts, t Terms, known ...KnownBug) (Result, error) {
	w := newWhole(p, t, known)
	if err := w.judge(); err != nil {
		return Result{}, err
	}
	return w.result()
}

// judge goes through the parts until all are judged.
func (w *whole) judge() error {
	var later []int
	err := w.each(all(w.parts.Len()), func(e *evaluation) {
		if !w.waits {
			e.judge()
		}
	}, func(e *evaluation) {
		w.note(e)
		if w.waits || e.asked {
			later = append(later, e.part)
			return
		}
		w.add(e.tally)
	})
	if err == nil && len(w.hanging) > 0 {
		err = w.each(all(w.parts.Len()), nothing, w.noteBeside)
	}
	if err != nil {
		return err
	}
	w.complete()
	if w.leaky { // what was acknowledged to whom is noted in the order of the parts
		return w.each(later, nothing, func(e *evaluation) {
			e.judge()
			w.add(e.tally)
		})
	}
	return w.each(later, (*evaluation).judge, func(e *evaluation) { w.add(e.tally) })
}

// nothing is the work on a part that only has to be arranged.
func nothing(*evaluation) {}

// all returns the numbers of all parts.
func all(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// each arranges parts, works on several of them at once, and takes them in their order, one after the other.
func (w *whole) each(parts []int, work, take func(*evaluation)) error {
	if w.kept != nil { // the only part
		for range parts {
			work(w.kept)
			take(w.kept)
		}
		return nil
	}
	type outcome struct {
		e   *evaluation
		err error
	}
	return history.InOrder(slices.Values(parts), func(i int) outcome {
		e, err := w.arrange(i)
		if err == nil {
			work(e)
		}
		return outcome{e, err}
	}, func(o outcome) error {
		if o.err == nil {
			take(o.e)
		}
		return o.err
	})
}

// arrange reads a part and arranges it.
func (w *whole) arrange(i int) (*evaluation, error) {
	h, err := w.parts.Part(i)
	if err != nil {
		return nil, err
	}
	e := newEvaluation(h, w)
	e.part = i
	splitAtRemovals(e)
	return e, nil
}
