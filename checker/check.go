// Package checker judges: it turns a history and the contract of its target into a verdict with
// findings. Check is a pure function; the readers that take snapshots are in snapshots.
//
// The rules are those of linearizability for an operation that may execute at most once: there must
// be a sequential history, consistent with real time, in which at most one attempt of a key group
// executes and every other answer is a legal answer of one that did not. Because at most one
// executes, counting rows and comparing answers suffices; nothing is searched.
//
// Decisions where the rules leave room:
//
//   - Rows are judged twice, before the final probe (T1) and after it (T2), and the findings of both
//     count: a probe heals a lost write, and it brings a second row to light.
//   - Intents with one marker (twins) are judged by the sum of their bounds, since their rows cannot
//     be told apart.
//   - An intent that is told "that exists already" although nothing of it exists is a false conflict
//     if nothing of it can have been executed, and a lost write if one attempt may have been.
//   - Of twins, a refusal is a false conflict only where the other twin got through.
//   - When the target went away in the middle, only findings that more waiting cannot undo are
//     reported: duplicates, leaks, altered bodies and unequal answers.
//   - "Exists already" speaks of an effect of the intent, in whichever group, and is no effect itself:
//     where nothing else can have made the row, whoever made it was told that it exists (phantom row).
//   - A row of an intent of which no request reached the target is nobody's proven fault: inconclusive.
//     A request that was throttled is one that the target answered, so its row is a phantom row.
//   - Status 429 is throttled even where the contract does not say so (RFC 6585).
//   - Attempts that were only told "in progress" are not wedged at T1, but if the final probe is told
//     so until its tries are used up.
//   - A final probe that was throttled to the end, or that ended before a target wanted to be asked again (Retry-After),
//     has learnt nothing: inconclusive.
//   - An answer that can be "in progress" or "exists already" with nothing to tell which forbids
//     nothing and resolves.
//   - A stored server error resolves only where nobody was acknowledged: what was stored is the
//     acknowledgement then.
//   - A replay repeats the answer to its own key. Answers to other keys of a natural key must name the
//     same thing and nothing more; requests without a key promise no replay.
//   - Where an intent has several effects, its answers differ for that reason: the duplicate is
//     reported, and no unequal replay besides.
//   - A marker that was in the database before the run is not judged, and the verdict is inconclusive.
//   - What was accepted (202) counts as what its status resource says became of it. One that never says
//     so by the contract's time is unavailable without a row, and a replay mismatch with one. One that lets
//     nobody ask says nothing.
//   - A key is a new key only when it must have been forgotten, whichever of its attempts made the record
//     and whenever the target looked. What may lie on either side is compared with nothing, and a target
//     that remembers for longer is worth a warning.
//   - Requests in different spellings of one JSON value are one body. That the target refuses one of them
//     as another request is a false conflict only where the contract compares values; a refusal for its
//     form is none.
//   - One key of two principals, or at two operations, is two keys only where the contract says so.
//     Elsewhere the second may be refused, but it is shown nothing of the first, and what it is told is
//     there.
//   - Two principals may be told of things with one name, such as 1, if there are two of them.
//   - A blank key is no key. Keys that differ, however little, are different keys; a target may refuse
//     such a key. Where a mismatch is a status and no more, a refusal is a false conflict only beside a
//     neighbour that got through with a key of the same form.
//   - A row is explained by attempts with its body only: another body's lost answer explains none.
//   - The name of another's thing is a leak anywhere in an answer if it has 16 characters or more, and the
//     request did not say it.
//   - Totals, such as a counter, are held against the rows of all intents, and the finding is theirs
//     together.
//   - Rows without a cause are not reported when the target counted more or fewer requests than are on
//     record, and "unavailable" is not when the probe was cut short.
//   - Whose session ends in the middle of a run is not told how repetitions are answered: inconclusive. That it ended
//     is known by requests of other intents, sent for the first time, that are turned away from then on as well, or
//     by a new login with which the same request is let in.
//   - An answer that ends where the connection ends has no framing that tells whether it is whole. It
//     counts as complete.
package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// moment is one of the two snapshots.
type moment int

const (
	atT1 moment = iota
	atT2
)

func (m moment) String() string {
	if m == atT1 {
		return history.T1Name
	}
	return history.T2Name
}

// Check judges one history. It changes nothing and needs nothing but its arguments. Bugs of its scenario
// that are known are found like others, and do not make it fail.
func Check(h *history.History, t Terms, known ...KnownBug) Result {
	c := &court{
		terms: t, history: h, families: t.families(h), known: known,
		sightings: map[string][]history.Sighting{}, kin: map[string][]*story{}, seen: map[string]bool{}, taken: taken(h.Before),
	}
	c.hidden = c.miscounted()
	for _, f := range c.families {
		for _, s := range f.stories {
			if s.intent.Kin != "" {
				c.kin[s.intent.Kin] = append(c.kin[s.intent.Kin], s)
			}
		}
	}
	c.removals()
	c.sessions()
	for _, s := range h.Sightings {
		c.sightings[s.Intent] = append(c.sightings[s.Intent], s)
	}
	for _, m := range []moment{atT1, atT2} {
		for _, f := range c.families {
			c.judge(f, m)
		}
		c.totals(m)
	}
	c.leaks()
	c.warn()
	if c.misconfigured() {
		c.findings = slices.DeleteFunc(c.findings, func(f Finding) bool { return !f.Kind.Row().Lasting })
	}
	return c.result()
}

// taken returns the markers that were there before the run; what is there later proves nothing.
func taken(before *history.Snapshot) map[string]bool {
	markers := map[string]bool{}
	if before == nil {
		return markers
	}
	for marker, rows := range before.Rows {
		if len(rows) > 0 {
			markers[marker] = true
		}
	}
	return markers
}

// court collects what is found in one history.
type court struct {
	terms     Terms
	history   *history.History
	families  []*family
	sightings map[string][]history.Sighting // by intent
	kin       map[string][]*story           // intents with neighbours, by the first of them
	hidden    string                        // why there must be requests that are not on record; empty: nothing says so
	findings  []Finding
	known     []KnownBug
	warnings  []Warning
	wonders   []string        // what nobody can explain and the target is not to blame for
	taken     map[string]bool // markers that were in the database before the run
	seen      map[string]bool // findings by kind, detail and intent: one that shows at T1 is not repeated at T2
}

func (c *court) snapshot(m moment) *history.Snapshot {
	if m == atT1 {
		return c.history.T1
	}
	return c.history.T2
}

// rows returns the rows of a marker at a moment, and whether they are known.
func (c *court) rows(m moment, marker string) ([]history.Row, bool) {
	s := c.snapshot(m)
	if s == nil || s.Error != "" || c.taken[marker] {
		return nil, false
	}
	rows, asked := s.Rows[marker]
	return rows, asked
}

// report adds a finding about a story, with its evidence.
func (c *court) report(m moment, s *story, f Finding) {
	id := fmt.Sprintf("%s/%s/%s", f.Kind, f.Detail, s.intent.ID)
	if c.seen[id] || c.unproven(f.Kind) || f.Kind == ReplayMismatch && c.seen[duplicated(s)] {
		return
	}
	c.seen[id] = true
	if f.Kind == Duplicate {
		c.seen[duplicated(s)] = true
	}
	f.Intent, f.Moment = s.intent.ID, m.String()
	f.Who = c.who(s)
	for _, a := range c.evidence(m, s) {
		f.Attempts = append(f.Attempts, *a.Attempt)
		f.Outcomes = append(f.Outcomes, a.outcome)
		if k, struck := c.crashBeside(a.ID); struck {
			f.Crashes = append(f.Crashes, k)
		}
	}
	for _, k := range c.history.Flushes { // for everybody, in whose story ever
		if n := len(f.Attempts); n > 0 && k.Begun > f.Attempts[0].Start && k.Begun < f.Attempts[n-1].End {
			f.Flushes = append(f.Flushes, k)
		}
	}
	for _, r := range c.history.Removals {
		if r.Intent == s.intent.ID {
			f.Removals = append(f.Removals, r)
		}
	}
	for _, body := range []string{history.Original, history.Altered} {
		if b, sent := s.intent.Bodies[body]; sent {
			rows, _ := c.rows(m, b.Marker)
			f.Rows = append(f.Rows, RowEvidence{Body: body, Marker: b.Marker, Rows: rows})
		}
	}
	c.add(f)
}

// who names the principals of a story and its neighbours, where there are several.
func (c *court) who(s *story) map[string]string {
	names, several := map[string]string{}, false
	for _, other := range c.kin[s.intent.Kin] {
		names[other.intent.ID] = other.intent.Principal
		several = several || other.intent.Principal != s.intent.Principal
	}
	if !several {
		return nil
	}
	return names
}

// evidence lists the attempts that a finding about a story rests on: its own, and those of the
// neighbours that it may have been mistaken for, in the order of sending.
func (c *court) evidence(m moment, s *story) []*judged {
	stories := []*story{s}
	if s.intent.Kin != "" {
		stories = c.kin[s.intent.Kin]
	}
	var all []*judged
	for _, one := range stories {
		all = append(all, one.until(m).whole().attempts...)
	}
	slices.SortStableFunc(all, func(a, b *judged) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

// reportAll adds a finding that no single intent can be blamed for.
func (c *court) reportAll(m moment, f Finding) {
	f.Intent, f.Moment = EveryIntent, m.String()
	if id := fmt.Sprintf("%s/%s/", f.Kind, f.Detail); !c.seen[id] && !c.unproven(f.Kind) {
		c.seen[id] = true
		c.add(f)
	}
}

func (c *court) add(f Finding) {
	f.Promise = cmp.Or(f.Promise, f.Kind.Row().Promise)
	if f.Contract == "" {
		f.Contract = "holds for every contract"
	}
	c.findings = append(c.findings, f)
}

// duplicated marks a story with several effects: that their answers differ is the same defect again
// (decision table 2, second row).
func duplicated(s *story) string { return "duplicated/" + s.intent.ID }

// wonder notes what keeps a clean history from being a pass, though no promise was broken.
func (c *court) wonder(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.wonders, text) {
		c.wonders = append(c.wonders, text)
	}
}

// unproven reports that what went wrong around the run may be the cause of such a finding.
func (c *court) unproven(k Kind) bool {
	switch k {
	case Unavailable: // needs all tries of the final probe, and that nothing runs any more
		return c.gone() || c.incident(history.StillBusy) != nil || c.incident(history.Interruption) != nil || c.incident(history.HarnessFault) != nil
	case PhantomRow: // a request that is not on record is a cause
		return c.gone() || c.hidden != ""
	default:
		return c.gone() && !k.Row().Lasting
	}
}

func (c *court) gone() bool { return c.incident(history.TargetGone) != nil }

func (c *court) incident(k history.IncidentKind) *history.Incident {
	for i := range c.history.Incidents {
		if c.history.Incidents[i].Kind == k {
			return &c.history.Incidents[i]
		}
	}
	return nil
}

// judge holds one family against the invariants at one moment.
func (c *court) judge(f *family, m moment) {
	if c.snapshot(m) == nil {
		return
	}
	c.bygone(m, f.stories[0]) // who has a twin has none
	if f.stories[0].void {
		return
	}
	stories := make([]*story, len(f.stories))
	for i, s := range f.stories {
		stories[i] = s.until(m)
	}
	_, altered := stories[0].intent.Bodies[history.Altered]
	switch {
	case !altered:
		c.counts(m, stories)
		c.scopeIgnored(m, stories)
	case len(stories) == 1 && len(c.terms.groups(stories[0].attempts)) == 1:
		c.altered(m, stories[0])
	default:
		c.alteredApart(m, stories)
	}
	c.effects(m, stories[0])
	for _, s := range stories {
		for _, g := range c.terms.groups(s.attempts) {
			c.answers(m, s, g)
		}
		if m == atT2 {
			c.accepted(s)
			c.resolution(s)
		}
	}
}

// Compare orders findings for a reader: those that no register tells of first, the worst kind first, an
// unknown one last, and within a kind those with the fewest attempts, which are the easiest to understand.
func Compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(min(len(a.Known), 1), min(len(b.Known), 1)),
		cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(len(a.Attempts), len(b.Attempts)),
	)
}

func (c *court) result() Result {
	h := c.history
	c.recognise()
	slices.SortStableFunc(c.findings, Compare)
	r := Result{
		Scenario: h.Run.Scenario, Summary: h.Run.Summary, Seed: h.Run.Seed,
		Intents: len(h.Intents), Attempts: len(h.Attempts), Outcomes: map[Outcome]int{},
		Findings: c.findings, Warnings: c.warnings, Exercise: c.exercise(), Bursts: c.bursts(), Writers: c.writers(), Phases: c.phases(),
		DatabaseGone: c.incident(history.DatabaseGone) != nil,
	}
	broken := map[string]bool{}
	for _, f := range c.findings {
		broken[f.Intent] = true
	}
	r.Failed = len(broken)
	if broken[EveryIntent] {
		r.Failed = len(h.Intents)
	}
	for _, f := range c.families {
		for _, s := range f.stories {
			for _, a := range s.whole().attempts {
				r.Outcomes[a.outcome]++
				r.Elapsed = max(r.Elapsed, a.End)
			}
		}
	}
	r.Verdict, r.Reasons = c.verdict(r.Exercise)
	r.Warnings = append(r.Warnings, c.unseen(r)...)
	return r
}
