package reports

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// attemptView is one attempt of a finding in words.
type attemptView struct {
	ID, Lane string
	From, To string // by the finding's clock; To is empty if the attempt never ended
	Sent     string // how it differs from the others: its key, its body, whether a retry, or the final one
	Answer   string // what the client got: status or error, and the judgement on it
	Tone     tone
	Note     string // what the proxy saw and the client did not
	Content  string // of the answer, where it is evidence

	attempt history.Attempt // what time lines are drawn from
}

// tone is the sort of answer that a client got. It is a class of the HTML report.
type tone string

// The tones.
const (
	toneNone tone = "none" // no whole answer
	toneYes  tone = "yes"
	toneNo   tone = "no"
)

// toneOf sorts an answer. A cut answer is none: its client cannot rely on the status.
func toneOf(a history.Attempt) tone {
	switch {
	case !a.Complete:
		return toneNone
	case a.Status >= 200 && a.Status < 300:
		return toneYes
	default:
		return toneNo
	}
}

// start is the earliest moment that is known of a finding's attempts: where its clock starts.
func start(f checker.Finding) history.Offset {
	var first history.Offset
	for _, a := range f.Attempts {
		if m := moments(a); len(m) > 0 && (first == 0 || slices.Min(m) < first) {
			first = slices.Min(m)
		}
	}
	return first
}

// attemptViews describes at most n attempts of a finding, and counts the others. It keeps those that say most
// about the effect, in the order of sending.
func attemptViews(f checker.Finding, n int) ([]attemptView, int) {
	return attemptsAt(f, mostTelling(f, n))
}

// attemptsAt describes the attempts of a finding with these indices, and counts the others.
func attemptsAt(f checker.Finding, indices []int) ([]attemptView, int) {
	keys, zero := keyNames(f.Attempts), start(f)
	list, said := make([]attemptView, 0, len(indices)), map[string]string{}
	for _, i := range indices {
		a := f.Attempts[i]
		v := attemptView{
			ID: a.ID, Lane: a.Lane, From: clock(a.Start - zero), Tone: toneOf(a), attempt: a,
			Sent:    joined([]string{name(f.Who[a.Intent]), sent(f, i, keys)}, ", "),
			Answer:  answer(a, outcome(f, i)),
			Note:    joined([]string{story(a, zero), crash(f, a.ID, zero), flushNote(f, i, zero), removalNote(f, i, zero)}, "; "),
			Content: content(f, i, said),
		}
		if a.End != 0 {
			v.To = clock(a.End - zero)
		}
		list = append(list, v)
	}
	return list, len(f.Attempts) - len(list)
}

// crash describes the target's crash during an attempt.
func crash(f checker.Finding, attempt string, zero history.Offset) string {
	for _, k := range f.Crashes {
		switch {
		case k.Attempt != attempt || k.Struck == 0:
		case k.Ready == 0:
			return fmt.Sprintf("the target was killed at %s, and did not come back", clock(k.Struck-zero))
		default:
			return fmt.Sprintf("the target was killed at %s, and ready again at %s", clock(k.Struck-zero), clock(k.Ready-zero))
		}
	}
	return ""
}

// flushNote says when the target's store was flushed, if it was since the intent's attempt before this one.
func flushNote(f checker.Finding, i int, zero history.Offset) string {
	a, since := f.Attempts[i], history.Offset(0)
	for _, b := range f.Attempts[:i] {
		if b.Intent == a.Intent {
			since = b.Start
		}
	}
	var lost []history.Flush
	for _, k := range f.Flushes {
		if since > 0 && k.Deleted > 0 && k.Done != 0 && k.Begun > since && k.Done <= a.Start {
			lost = append(lost, k)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	text := fmt.Sprintf("the target's store was flushed (%s) at %s", english.Plural(lost[0].Deleted, "key"), clock(lost[0].Done-zero))
	if more := len(lost) - 1; more > 0 {
		text += fmt.Sprintf(", and %s since", english.Plural(more, "more time"))
	}
	return text
}

// removalNote says when the rows of the intent were removed. It stands at the first attempt after that.
func removalNote(f checker.Finding, i int, zero history.Offset) string {
	for _, r := range f.Removals {
		earlier := slices.ContainsFunc(f.Attempts[:i], func(a history.Attempt) bool { return a.Start >= r.Done })
		if r.Done != 0 && f.Attempts[i].Start >= r.Done && !earlier {
			return fmt.Sprintf("the rows made before were removed at %s", clock(r.Done-zero))
		}
	}
	return ""
}

// content returns what an answer said. Said holds the attempts by their answers so far, so that an
// answer like an earlier one is not read twice.
func content(f checker.Finding, i int, said map[string]string) string {
	a := f.Attempts[i]
	if a.Content == "" || tellingRank(f, i) > 3 {
		return ""
	}
	if first, known := said[a.Content]; known {
		return "the same answer as " + first
	}
	said[a.Content] = a.ID
	return a.Content
}

// mostTelling returns the indices of the n attempts that say most, the first always among them.
func mostTelling(f checker.Finding, n int) []int {
	all := make([]int, len(f.Attempts))
	for i := range all {
		all[i] = i
	}
	if len(all) <= n {
		return all
	}
	slices.SortStableFunc(all[1:], func(a, b int) int { return tellingRank(f, a) - tellingRank(f, b) })
	all = all[:n]
	slices.Sort(all)
	return all
}

// tellingRank orders attempts by how much they say about the effect.
func tellingRank(f checker.Finding, i int) int {
	if i >= len(f.Outcomes) {
		return 2
	}
	switch f.Outcomes[i] {
	case checker.Acknowledged, checker.Accepted, checker.Exists:
		return 1
	case checker.Unknown:
		return 2
	case checker.Rejected, checker.Declined:
		return 3
	default:
		return 4
	}
}

// outcome is the judgement on an attempt, in words. A report from elsewhere may lack it.
func outcome(f checker.Finding, i int) string {
	if i >= len(f.Outcomes) {
		return ""
	}
	return words(f.Outcomes[i])
}

// keyNames gives the keys of a finding short names, in the order of their first use. It is empty
// if all attempts have one key.
func keyNames(attempts []history.Attempt) map[string]string {
	names := map[string]string{}
	for _, a := range attempts {
		if _, known := names[a.Key]; known || a.Key == "" {
			continue
		}
		names[a.Key] = fmt.Sprintf("key %d", len(names)+1)
		if len(names) > 1 {
			names[a.Key] = fmt.Sprintf("fresh key %d", len(names))
		}
	}
	if len(names) == 1 {
		clear(names)
	}
	return names
}

// sent says what is special about an attempt: its instance, its key, its body, which retry it is.
func sent(f checker.Finding, i int, keys map[string]string) string {
	a := f.Attempts[i]
	key := keys[a.Key]
	switch {
	case a.BlankKey:
		key = "blank key"
	case a.Key == "" && !byNaturalKey(f):
		key = "no key"
	case key == "" && a.Probe: // a final retry has the key of the others
	case a.Key == "" && i > 0:
		key = "again"
	case key == "" && i > 0:
		key = "same key"
	case key == "":
		key = "first"
	}
	parts := []string{key}
	if a.Instance > 0 {
		parts = []string{fmt.Sprintf("instance %d", a.Instance), key}
	}
	if a.Body != history.Original {
		parts = append(parts, a.Body)
	}
	switch {
	case a.Probe && a.Retry > 0:
		parts = append(parts, fmt.Sprintf("final retry %d", a.Retry+1))
	case a.Probe:
		parts = append(parts, "final retry")
	case a.Retry > 0:
		parts = append(parts, fmt.Sprintf("retry %d", a.Retry))
	}
	return joined(parts, ", ")
}

// answer says what the client got: a status with the judgement on it, or why there is none.
func answer(a history.Attempt, judged string) string {
	what := ""
	if a.Status != 0 {
		what = fmt.Sprint(a.Status)
	}
	switch {
	case a.ErrorKind != "":
		what = joined([]string{what, reason(a)}, " ")
	case a.End == 0:
		what = "never finished"
	case a.Complete:
		return joined([]string{what, judged}, " ")
	}
	return joined([]string{what, judged}, ", ")
}

// story says what happened inside the target, and where the client's view and the proxy's differ.
// Times count from zero.
func story(a history.Attempt, zero history.Offset) string {
	return joined([]string{linkBreak(a, zero), proxyView(a, zero)}, "; ")
}

// linkBreak says how a link inside the target broke.
func linkBreak(a history.Attempt, zero history.Offset) string {
	c := a.Cut
	switch {
	case c == nil:
		return ""
	case c.At == 0:
		return fmt.Sprintf("the link %s did not break: nothing passed it at moment %s", name(c.Link), name(c.Moment))
	case c.Moment == "commit":
		return fmt.Sprintf("the link %s broke at %s, and a commit was lost", name(c.Link), clock(c.At-zero))
	case c.Moment == "committed":
		return fmt.Sprintf("the link %s broke at %s, and the answer to a commit was lost", name(c.Link), clock(c.At-zero))
	case c.Answer:
		return fmt.Sprintf("the link %s broke at %s, and an answer was lost (moment %s)", name(c.Link), clock(c.At-zero), name(c.Moment))
	default:
		return fmt.Sprintf("the link %s broke at %s, and a query was lost (moment %s)", name(c.Link), clock(c.At-zero), name(c.Moment))
	}
}

// proxyView says where the client's view and the proxy's differ.
func proxyView(a history.Attempt, zero history.Offset) string {
	p := a.Passage
	switch {
	case p == nil && a.End == 0:
		return "the run stopped before this attempt ended"
	case p == nil:
		return failure(a)
	case p.Refused:
		return "the target refused the connection"
	case p.Answered != 0 && !a.Complete:
		return lostAnswer(a, zero)
	case a.Complete && p.Status != 0 && p.Status != a.Status:
		return fmt.Sprintf("the target answered %d, the client saw %d", p.Status, a.Status)
	case a.Complete:
		return ""
	case p.Arrived != 0:
		return fmt.Sprintf("reached the target at %s; no answer came back", clock(p.Arrived-zero))
	case p.Up == 0:
		return "no byte of the request reached the target"
	default:
		return failure(a)
	}
}

// lostAnswer describes an answer that left the target and did not arrive whole.
func lostAnswer(a history.Attempt, zero history.Offset) string {
	what := "the target answered"
	if status := a.Passage.Status; status != 0 {
		what += fmt.Sprintf(" %d", status)
	}
	what += " at " + clock(a.Passage.Answered-zero)
	switch {
	case a.Status != 0:
		return what + "; the client got only a part of it"
	case a.End != 0 && a.Passage.Answered > a.End:
		return what + fmt.Sprintf(", %s after the client gave up", duration(a.Passage.Answered-a.End))
	case a.End != 0:
		return what + fmt.Sprintf("; the client never saw it (%s at %s)", reason(a), clock(a.End-zero))
	default:
		return what + "; the client never saw it"
	}
}

// reason says in a word why the client has no answer.
func reason(a history.Attempt) string {
	switch a.ErrorKind {
	case "":
		return "gone"
	case history.OtherError:
		return "error"
	default:
		return name(string(a.ErrorKind))
	}
}

// failure repeats the error of kinds that do not explain themselves.
func failure(a history.Attempt) string {
	if a.ErrorKind == history.OtherError || a.ErrorKind == history.Garbage {
		return prose(a.Error)
	}
	return ""
}
