package checker

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// until returns the messages of a marker at the sink of an effect, up to a moment, that
// the target file means: a sink may get others, too.
func (all messages) until(at history.Offset, sink string, where contract.Where, marker string) []history.Message {
	var some []history.Message
	for _, m := range all.of[marker] {
		if m.Sink == sink && m.At <= at && meant(where, m) {
			some = append(some, m)
		}
	}
	return some
}

// count returns how many of an effect there are of a marker: those that the sink acted on, less those that were
// undone. An effect that was made and taken back is none.
func (all messages) count(at history.Offset, fx contract.Effect, marker string) int {
	n := acted(all.until(at, fx.Seen, fx.Where, marker))
	if fx.Undone != nil {
		n -= acted(all.until(at, fx.Seen, *fx.Undone, marker))
	}
	return n
}

// Seen returns how many of an effect reached its sink for a marker, in all of a history.
func Seen(t Terms, h *history.History, fx contract.Effect, marker string) int {
	return messagesOf(t, h).count(math.MaxInt64, fx, marker)
}

// KnownByKey reports that a message for a marker had the key of an earlier message, so that its sink did nothing.
func KnownByKey(t Terms, h *history.History, fx contract.Effect, marker string) bool {
	return slices.ContainsFunc(messagesOf(t, h).until(math.MaxInt64, fx.Seen, fx.Where, marker), func(m history.Message) bool { return m.First != "" })
}

// acted counts the messages that the sink acted on: a repetition that gets the first answer again is none. A sink that
// takes keys, as a payment provider does, is meant to be asked again.
func acted(some []history.Message) int {
	n := 0
	for _, m := range some {
		if m.Acted && m.First == "" {
			n++
		}
	}
	return n
}

// meant reports whether a message is one that the target file means.
func meant(w contract.Where, m history.Message) bool {
	base, _, _ := strings.Cut(m.Path, "?")
	fits, _ := path.Match(w.Path, base)
	switch {
	case m.Error != "" && m.Method == "": // it was not understood
		return false
	case w.Method != "" && w.Method != m.Method, w.Path != "" && !fits:
		return false
	case w.Subject != "" && !like(w.Subject, m.Subject), w.Span != "" && !like(w.Span, m.Subject), w.Type != "" && !like(w.Type, m.Subject):
		return false
	case w.To != "" && !slices.ContainsFunc(m.To, func(to string) bool { return like(strings.ToLower(w.To), strings.ToLower(to)) }):
		return false
	default:
		return true
	}
}

// like reports whether a text is as a pattern says, in which a * stands for any text.
// Unlike path.Match it lets * stand for slashes, and knows no other signs: subjects and
// routing keys are no paths.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	rest, fits := strings.CutPrefix(text, first)
	if !fits {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, fits = strings.Cut(rest, part); !fits {
			return false
		}
	}
	return strings.HasSuffix(rest, last)
}

// Watched returns the effects of an operation that are counted at sinks, where they are watched.
func Watched(t Terms, o contract.Operation) []contract.Effect { return watched(&t, &o) }

// watched is Watched, without a copy of the operation.
func watched(t *Terms, o *contract.Operation) []contract.Effect {
	if t.Unwatched || len(o.Effects) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(o.Effects), func(fx contract.Effect) bool { return fx.Seen == "" })
}

// checkSeen checks that every row comes with its messages at a sink, no more and no fewer.
// Before the final retry both are still open: a row may come for an effect that was made,
// and an effect for a row.
func checkSeen(e *evaluation, m moment, traces []*trace) {
	tr := traces[0]
	for _, fx := range watched(&e.terms, tr.operation) {
		for _, body := range []string{history.Original, history.Altered, history.Invalid} {
			b, sent := tr.intent.Bodies[body]
			if !sent || body != history.Original && b.Marker == tr.intent.Bodies[history.Original].Marker {
				continue
			}
			rows, known := e.rows(m, b.Marker)
			if !known {
				continue
			}
			due := len(rows)
			if m == atT1 {
				due = max(due, 1)
				if body == history.Original {
					due = max(due, e.terms.boundsOf(traces).intended)
				}
			}
			checkSeenOf(e, m, tr, fx, seenOf{marker: b.Marker, body: body, rows: len(rows), due: due})
		}
	}
}

// seenOf is the body of an intent whose effects are counted.
type seenOf struct {
	marker, body string
	rows         int
	due          int // rows that there are, or may still come
}

// checkSeenOf checks the messages of one effect for one body. Too many are a finding at
// any moment, too few only after the final retry; an effect without any row by then was
// made before a commit that never came.
func checkSeenOf(e *evaluation, m moment, tr *trace, fx contract.Effect, of seenOf) {
	at := e.snapshot(m).At
	got, each := e.messages.count(at, fx, of.marker), fx.Each()
	f := Finding{
		Kind: EffectMismatch, Detail: fx.Name, Contract: "effects: " + fx.Name,
		Expected: fmt.Sprintf("%s%d at %s: %d for each row of the %s body, of which there is %s", atMost(fx), each*of.rows, fx.Seen, each, of.body, count(of.rows, "row")),
		Observed: fmt.Sprintf("%d at %s%s%s", got, fx.Seen, listed(e.messages.until(at, fx.Seen, fx.Where, of.marker)), e.messages.sameKey(at, fx, of.marker)),
	}
	switch {
	case got > each*of.due && of.rows == 0 && m == atT2:
		f.Kind = EffectBeforeCommit
		e.report(m, tr, f)
	case got > each*of.due, got+e.messages.unclear(at, fx, of.marker) < 0, m == atT2 && got+e.messages.unclear(at, fx, of.marker) < each*of.rows && !onlyDeclined(tr) && !unrecorded(e) && fx.Delivery != contract.SentAtMostOnce:
		e.report(m, tr, f)
	}
	checkDownstreamKeys(e, m, tr, fx, of)
}

// sameKey says what a file may lack, if all of several effects have one key; empty: they have not.
func (all messages) sameKey(at history.Offset, fx contract.Effect, marker string) string {
	done := filter(all.until(at, fx.Seen, fx.Where, marker), func(m history.Message) bool { return m.Acted && m.First == "" })
	if len(done) < 2 || done[0].Key == "" || slices.ContainsFunc(done, func(m history.Message) bool { return m.Key != done[0].Key }) {
		return ""
	}
	return fmt.Sprintf("; all have one key: if %s acts once for a key, say idempotent: true of the sink", fx.Seen)
}

// unrecorded reports that messages may have reached a sink which are not on record: nothing can be missed then.
func unrecorded(e *evaluation) bool {
	return incident(e.history, history.Flooded) != nil || incident(e.history, history.SinkBehind) != nil
}

// atMost is how an expected number begins where a message may be lost but not come twice.
func atMost(fx contract.Effect) string {
	if fx.Delivery == contract.SentAtMostOnce {
		return "at most "
	}
	return ""
}

// checkDownstreamKeys checks that all requests of an intent for one effect carry one key of the target's own: to the other
// service, another key is another request. After a refusal a new key is right, and so it is after the effect was undone.
func checkDownstreamKeys(e *evaluation, m moment, tr *trace, fx contract.Effect, of seenOf) {
	at := e.snapshot(m).At
	var keys []string
	some := e.messages.until(at, fx.Seen, fx.Where, of.marker)
	for _, sent := range some {
		refused := !sent.Acted && sent.Status >= 400 && sent.Status < 500
		if sent.Key != "" && !refused && !slices.Contains(keys, sent.Key) {
			keys = append(keys, sent.Key)
		}
	}
	allowed := fx.Each() * max(of.due, 1)
	if fx.Undone != nil {
		allowed += acted(e.messages.until(at, fx.Seen, *fx.Undone, of.marker))
	}
	if len(keys) > allowed {
		e.report(m, tr, Finding{
			Kind: DownstreamKeyChanged, Detail: fx.Name, Contract: "effects: " + fx.Name,
			Expected: fmt.Sprintf("%s for all requests of the intent", count(allowed, "key")),
			Observed: fmt.Sprintf("%s%s", count(len(keys), "key"), listed(some)),
		})
	}
}

// listed lists the first few messages, each with its moment, its key and its answer.
func listed(some []history.Message) string {
	const most = 4
	var texts []string
	for i, m := range some {
		if i == most {
			texts = append(texts, fmt.Sprintf("and %d more", len(some)-most))
			break
		}
		texts = append(texts, summary(m))
	}
	if len(texts) == 0 {
		return ""
	}
	return ": " + strings.Join(texts, "; ")
}

// summary says what a message was, in one clause.
func summary(m history.Message) string {
	text := m.ID + " " + m.What()
	if m.Key != "" {
		text += " with key " + m.Key
	}
	if m.Intent != "" && m.Intent != m.Key {
		text += " for " + m.Intent
	}
	switch {
	case m.First != "":
		text += ", a repetition of " + m.First
	case !m.Acted && m.Fault == "crash":
		text += ", and the target was killed before it was done"
	case !m.Acted:
		text += fmt.Sprintf(", refused with %d", m.Status)
	}
	return text
}

// messagesUntil returns the first messages of a marker up to a moment, without their contents.
func messagesUntil(e *evaluation, m moment, marker string) []history.Message {
	const most = 20
	var some []history.Message
	for _, sent := range e.messages.of[marker] {
		if s := e.snapshot(m); s != nil && sent.At > s.At || len(some) == most {
			break
		}
		sent.Content = ""
		some = append(some, sent)
	}
	return some
}

// seen reports that each effect of an intent that is counted at a sink was there at a moment, at least once. What is sent at most once
// was there when it was sent, though it was not done.
func seen(e *evaluation, tr *trace, at history.Offset) bool {
	effects := slices.DeleteFunc(watched(&e.terms, tr.operation), func(fx contract.Effect) bool { return fx.Each() == 0 })
	return len(effects) > 0 && !slices.ContainsFunc(effects, func(fx contract.Effect) bool {
		for _, b := range tr.intent.Bodies {
			sent := e.messages.until(at, fx.Seen, fx.Where, b.Marker)
			if acted(sent)+e.messages.unclear(at, fx, b.Marker) > 0 || len(sent) > 0 && fx.Delivery == contract.SentAtMostOnce {
				return false
			}
		}
		return true
	})
}

// disturbed reports that a sink acted on a message of the intent and its answer was lost, late or a failure, and that two requests
// of the intent reached the target. A relay may have sent the message later than both.
func disturbed(e *evaluation, _ *markerGroup, tr *trace) bool {
	if len(filter(tr.attempts, reachedTarget)) < 2 {
		return false
	}
	for _, b := range tr.intent.Bodies {
		if slices.ContainsFunc(slices.Concat(e.messages.of[b.Marker], e.messages.shared[b.Marker]), func(m history.Message) bool { return m.Fault != "" }) {
			return true
		}
	}
	return false
}

// measureSeen counts for how many of the intents that have rows all effects were seen at their sinks.
func measureSeen(e *evaluation, t *tally) {
	last := e.history.T2
	if last == nil {
		last = e.history.T1
	}
	if last == nil || last.Error != "" {
		return
	}
	for tr := range e.traces() {
		if tr.intent.Behind || tr.intent.Fresh || len(watched(&e.terms, tr.operation)) == 0 || onlyDeclined(tr) {
			continue
		}
		if len(last.Rows[tr.intent.Bodies[history.Original].Marker]) == 0 {
			continue
		}
		t.effects.of++
		if seen(e, tr, last.At) {
			t.effects.held++
		}
	}
}

// owedEffects reports that a snapshot has rows of a marker, and fewer of their effects at the sinks.
func owedEffects(t *Terms, all messages, s history.Snapshot, o *contract.Operation, markers []string) bool {
	return slices.ContainsFunc(watched(t, o), func(fx contract.Effect) bool {
		for _, marker := range markers {
			if all.count(s.At, fx, marker)+all.unclear(s.At, fx, marker) < fx.Each()*len(s.Rows[marker]) {
				return true
			}
		}
		return false
	})
}

// unclaimed warns of what reached the sinks and belongs to no intent, and of effects that are not counted.
func (w *whole) unclaimed() []Warning {
	var all []Warning
	var names []string
	for _, o := range w.terms.operations() {
		for _, fx := range o.Effects {
			if fx.Seen != "" && w.terms.Unwatched {
				names = append(names, fmt.Sprintf("%s (%s)", fx.Name, fx.Seen))
			}
		}
	}
	if len(names) > 0 {
		all = append(all, Warning{Kind: "not-watched", Text: "effects were not watched: " + strings.Join(names, ", ")})
	}
	late := filter(w.nobodys, func(m history.Message) bool { return len(m.Names) > 0 })
	foreign := filter(w.nobodys, func(m history.Message) bool { return len(m.Names) == 0 && m.Intent == "" })
	strange := filter(w.nobodys, func(m history.Message) bool { return len(m.Names) == 0 && m.Intent != "" })
	if len(late) > 0 {
		all = append(all, Warning{Kind: "late-message", Text: fmt.Sprintf("%s at a sink with the marker of an earlier scenario: effects come later than within says%s", came(late), listed(late))})
	}
	if len(foreign) > 0 {
		all = append(all, Warning{Kind: "unclaimed-message", Text: fmt.Sprintf("%s at a sink with no marker, and was counted for no intent%s", came(foreign), listed(foreign))})
	}
	if len(strange) > 0 {
		all = append(all, Warning{Kind: "unclaimed-message", Text: fmt.Sprintf("%s at a sink for what no intent is known by, and was counted for none%s", came(strange), listed(strange))})
	}
	return all
}

// orphans says that effects were made for what no row and no answer names. There are more of them than there should be, or they
// belong to an earlier scenario.
func orphans(w *whole) []string {
	var texts []string
	for _, o := range w.terms.operations() {
		for _, fx := range Watched(w.terms, o) {
			net, some := map[string]int{}, []history.Message(nil)
			for _, m := range w.nobodys {
				if m.Sink != fx.Seen || m.Intent == "" || len(m.Names) > 0 {
					continue
				}
				of := []history.Message{m}
				if meant(fx.Where, m) {
					net[m.Intent] += acted(of)
				}
				if fx.Undone != nil && meant(*fx.Undone, m) {
					net[m.Intent] -= acted(of)
				}
			}
			for _, m := range w.nobodys {
				if m.Sink == fx.Seen && meant(fx.Where, m) && net[m.Intent] > 0 {
					some = append(some, m)
				}
			}
			if text := fmt.Sprintf("%s at %s for what no row, no answer and no key names, be it for nothing or for an earlier scenario%s", came(some), fx.Seen, listed(some)); len(some) > 0 && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// came counts messages, for a sentence.
func came(some []history.Message) string { return count(len(some), "message") + " came" }
