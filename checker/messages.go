package checker

import (
	"slices"
	"strings"
	"sync"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// messages are what reached the sinks, by the marker that it carries. The zero value has
// none.
type messages struct {
	of        map[string][]history.Message // by marker
	shared    map[string][]history.Message // by marker: that may be of this intent, or of others which are known by the same
	unclaimed []history.Message            // of no intent
}

// messagesOf sorts what reached the sinks by intent, with what further snapshots know. A
// message belongs to the one intent that its declared field names; without one, to each
// marker in it; without such, to the attempts whose traces it is of (traceparent, W3C
// Trace Context); without such, to the intents that sent a text which it carries, such as
// their reference. The surest comes first, as each further guess may be of two intents.
func messagesOf(t Terms, h *history.History, more ...history.Snapshot) messages {
	all, known := messages{of: map[string][]history.Message{}, shared: map[string][]history.Message{}}, map[string]bool{}
	for _, s := range []*history.Snapshot{h.T1, h.T2} {
		if s != nil {
			more = append(more, *s)
		}
	}
	if len(h.Messages) == 0 {
		return all
	}
	// Few targets declare a field for the intent, and the names of all intents take a
	// while.
	named := sync.OnceValue(func() namedIntents { return namesOf(t, h, more) })
	for _, i := range h.Intents {
		for _, b := range i.Bodies {
			known[b.Marker] = true
		}
	}
	traces := markersOfTraces(h, more)
	for _, m := range h.Messages {
		var several []string
		markers := filter(m.Names, func(name string) bool { return known[name] })
		if m.Intent != "" {
			if several = named().of(m); len(several) == 1 {
				markers = several
			}
		}
		if len(markers) == 0 {
			for _, trace := range m.Traces {
				if marker := traces[trace]; marker != "" && !slices.Contains(markers, marker) {
					markers = append(markers, marker)
				}
			}
		}
		if len(markers) == 0 && len(several) > 0 {
			for _, marker := range several {
				all.shared[marker] = append(all.shared[marker], m)
			}
			continue
		}
		if len(markers) == 0 {
			markers = markersThatSent(h, m.Names)
		}
		for _, marker := range markers {
			all.of[marker] = append(all.of[marker], m)
		}
		if len(markers) == 0 {
			all.unclaimed = append(all.unclaimed, m)
		}
	}
	return all
}

// markerOf returns the marker of the body that an attempt carried. Where that body has no rows it is the original's: an attempt with
// another body may complete what the first one began.
func markerOf(i history.Intent, body string, looks []history.Snapshot) string {
	own := i.Bodies[body].Marker
	if slices.ContainsFunc(looks, func(s history.Snapshot) bool { return len(s.Rows[own]) > 0 }) {
		return own
	}
	return i.Bodies[history.Original].Marker
}

// markersOfTraces returns the marker of the body that each attempt with a trace of its own carried, by the trace.
func markersOfTraces(h *history.History, looks []history.Snapshot) map[string]string {
	intents := map[string]history.Intent{}
	for _, i := range h.Intents {
		intents[i.ID] = i
	}
	traces := map[string]string{}
	for _, a := range h.Attempts {
		for name, value := range a.Own {
			parts := strings.Split(value, "-")
			if strings.EqualFold(name, "traceparent") && len(parts) >= 4 {
				traces[strings.ToLower(parts[1])] = markerOf(intents[a.Intent], a.Body, looks)
			}
		}
	}
	return traces
}

// markersThatSent returns the markers of the intents whose requests carried one of these texts.
func markersThatSent(h *history.History, names []string) []string {
	var markers []string
	for _, i := range h.Intents {
		marker := i.Bodies[history.Original].Marker
		sent := slices.ContainsFunc(names, func(name string) bool {
			for _, b := range i.Bodies {
				if strings.Contains(b.Content, name) || strings.Contains(b.Path, name) || strings.Contains(b.Says, name) {
					return true
				}
			}
			return false
		})
		if sent && !slices.Contains(markers, marker) {
			markers = append(markers, marker)
		}
	}
	return markers
}

// unclear returns how many more of an effect there may be of a marker: messages that are of it or of another intent.
func (all messages) unclear(at history.Offset, fx contract.Effect, marker string) int {
	return len(filter(all.shared[marker], func(m history.Message) bool { return m.Sink == fx.Seen && m.At <= at && meant(fx.Where, m) }))
}

// namedIntents are the markers of the intents by what a target may know them by (the
// identity of a row, that in an answer, the key), and the sinks at which their effects are
// counted.
type namedIntents struct {
	rows, answers, keys map[string][]string // by the identity of a row, by that in an answer, and by the idempotency key
	sinks               map[string][]string // by marker
}

// namesOf collects by what the intents of a history are known.
func namesOf(t Terms, h *history.History, looks []history.Snapshot) namedIntents {
	n := namedIntents{map[string][]string{}, map[string][]string{}, map[string][]string{}, map[string][]string{}}
	intents := map[string]history.Intent{}
	for _, i := range h.Intents {
		intents[i.ID] = i
		o := t.named(i.Operation)
		for _, b := range i.Bodies {
			for _, fx := range watched(&t, o) {
				noteName(n.sinks, b.Marker, fx.Seen)
			}
			for _, s := range looks {
				for _, row := range s.Rows[b.Marker] {
					if value := row[o.Rows.Identity]; value != nil {
						noteName(n.rows, plain(normalise(value)), b.Marker)
					}
				}
			}
		}
	}
	for _, a := range h.Attempts {
		i := intents[a.Intent]
		marker := markerOf(i, a.Body, looks)
		if id := t.classifyAttempt(&a, t.operationFor(i, a.Body), nil).identity; id != "" {
			noteName(n.answers, id, marker)
		}
		if a.Key != "" {
			noteName(n.keys, a.Key, marker)
		}
	}
	return n
}

// noteName notes that an intent is known by a name.
func noteName(to map[string][]string, name, value string) {
	if !slices.Contains(to[name], value) {
		to[name] = append(to[name], value)
	}
}

// leastPart is how many bytes a part of a value needs to name an intent by itself: shorter
// ones, such as 7, are in many values.
const leastPart = 8

// of returns the markers of the intents that the declared field of a message names: as a whole, or as a part between two separators, such
// as the id in charge-ord_7f3a.
func (n namedIntents) of(m history.Message) []string {
	for _, value := range append([]string{m.Intent}, partsOf(m.Intent)...) {
		for _, by := range []map[string][]string{n.rows, n.answers, n.keys} {
			if markers := by[value]; len(markers) > 0 {
				if here := filter(markers, func(marker string) bool { return slices.Contains(n.sinks[marker], m.Sink) }); len(here) > 0 {
					return here
				}
				return markers
			}
		}
	}
	return nil
}

// partsOf returns the parts of a value between its separators, the longest first.
func partsOf(value string) []string {
	const most = 16
	ends := []int{-1}
	for i := 0; i < len(value) && len(ends) < most; i++ {
		if strings.IndexByte("-_:/.,|# ", value[i]) >= 0 {
			ends = append(ends, i)
		}
	}
	ends = append(ends, len(value))
	var parts []string
	for i, from := range ends {
		for _, to := range ends[i+1:] {
			if part := value[from+1 : to]; len(part) >= leastPart && len(part) < len(value) {
				parts = append(parts, part)
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b string) int { return len(b) - len(a) })
	return parts
}
