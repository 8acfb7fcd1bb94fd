package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// meaning says in one clause what a kind of finding is.
func meaning(k checker.Kind) string {
	switch k {
	case checker.Leak:
		return "an answer showed somebody else's data"
	case checker.Duplicate:
		return "one intent, more than one row"
	case checker.LostWrite:
		return "the client was told yes, and the row is not there"
	case checker.PhantomRow:
		return "a row exists, although no answer could have made it"
	case checker.AlteredBody:
		return "the same key with another body was not held off"
	case checker.EffectMismatch:
		return "a side effect happened too often, or not at all"
	case checker.ReplayMismatch:
		return "the repeated request got another answer"
	case checker.FalseConflict:
		return "a fresh request was refused as if it had come before"
	case checker.MissingKeyAccepted:
		return "a request without the required key was accepted"
	case checker.Unavailable:
		return "polite retries never got a final answer"
	default:
		return "a broken promise"
	}
}

// mark is the one character that stands for a verdict.
func mark(v checker.Verdict) string {
	switch v {
	case checker.Pass:
		return "✓"
	case checker.Fail:
		return "✗"
	case checker.NotApplicable:
		return "–"
	case checker.Broken:
		return "!"
	case checker.Known:
		return "≈"
	case checker.Mended:
		return "+"
	default:
		return "?"
	}
}

// words is a name as it stands in files, as words.
func words(name fmt.Stringer) string { return strings.ReplaceAll(name.String(), "-", " ") }

// seen is one finding and the result that it belongs to.
type seen struct {
	finding checker.Finding
	result  *checker.Result
	place   int // of the result in the report
}

// findings returns all findings of a report in the order of [checker.Compare], and then of the run.
func findings(r checker.Report) []seen {
	var all []seen
	for i := range r.Results {
		all = append(all, findingsOf(&r.Results[i], i)...)
	}
	slices.SortStableFunc(all, func(a, b seen) int {
		return cmp.Or(checker.Compare(a.finding, b.finding), a.place-b.place)
	})
	return all
}

func findingsOf(res *checker.Result, place int) []seen {
	var all []seen
	for _, f := range res.Findings {
		all = append(all, seen{finding: f, result: res, place: place})
	}
	return all
}

// begin is the earliest moment that is known of a finding's attempts: where its clock starts.
func begin(f checker.Finding) history.Offset {
	var first history.Offset
	for _, a := range f.Attempts {
		if m := moments(a); len(m) > 0 && (first == 0 || slices.Min(m) < first) {
			first = slices.Min(m)
		}
	}
	return first
}

// tally is how many findings of one kind there are, and in how many intents.
type tally struct {
	kind     checker.Kind
	findings int
	intents  int
}

// tallies counts findings per kind, worst first.
func tallies(all []seen) []tally {
	var list []tally
	at, known := map[checker.Kind]int{}, map[string]bool{}
	for _, s := range all {
		kind := s.finding.Kind
		if _, ok := at[kind]; !ok {
			at[kind] = len(list)
			list = append(list, tally{kind: kind})
		}
		list[at[kind]].findings++
		if id := fmt.Sprintf("%s/%d/%s", kind, s.place, s.finding.Intent); !known[id] {
			known[id] = true
			list[at[kind]].intents++
		}
	}
	slices.SortStableFunc(list, func(a, b tally) int {
		return checker.Compare(checker.Finding{Kind: a.kind}, checker.Finding{Kind: b.kind})
	})
	return list
}

// share says how often a scenario broke, per kind: "duplicate in 3 of 12 intents".
func share(res checker.Result) string {
	const most = 2
	var parts []string
	list := tallies(findingsOf(&res, 0))
	for i, t := range list[:min(len(list), most)] {
		part := fmt.Sprintf("%s in %d", name(string(t.kind)), t.intents)
		if i == 0 {
			part += " of " + plural(res.Intents, "intent")
		}
		parts = append(parts, part)
	}
	if more := len(list) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more kinds", more))
	}
	return strings.Join(parts, ", ")
}

// exercised lists how far each proof of exercise held: "overlapped 12/12 · replayed 12/12".
func exercised(res checker.Result) string {
	var parts []string
	for _, e := range res.Exercise {
		part := fmt.Sprintf("%s %d/%d", name(e.Proof), e.Held, e.Of)
		if e.Held < e.Needed {
			part += fmt.Sprintf(" (needs %d)", e.Needed)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " · ")
}

// evidence is what a scenario's line says beside its verdict.
func evidence(res checker.Result) string {
	parts := []string{share(res), exercised(res)}
	if len(res.Findings) == 0 && len(res.Reasons) > 0 && res.Verdict != checker.Pass {
		parts = []string{prose(res.Reasons[0]), exercised(res)}
	}
	return joined(parts, " · ")
}

func joined(parts []string, separator string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), separator)
}

// flawless is true for a scenario that was exercised and in which nothing broke.
func flawless(v checker.Verdict) bool { return v == checker.Pass || v == checker.Mended }

// exercisedRounds returns the rounds for which every proof of a flawless scenario held.
func exercisedRounds(res checker.Result) (int, bool) {
	if !flawless(res.Verdict) || len(res.Exercise) == 0 {
		return 0, false
	}
	return checker.Rounds(res.Exercise), true
}

// worth says what a pass is worth: the rule of three over the rounds that were exercised. It is
// empty where there is nothing to say.
func worth(res checker.Result) string {
	n, passed := exercisedRounds(res)
	if !passed {
		return ""
	}
	return rounds{rounds: n}.bound() + " (95% confidence)"
}

// rounds is the scenarios that passed with so many exercised rounds.
type rounds struct {
	rounds    int
	scenarios []string
}

// bound is what so many clean rounds allow to say (the rule of three, at 95 % confidence).
func (r rounds) bound() string {
	seen := "nothing broke in " + plural(r.rounds, "exercised round")
	if r.rounds <= 3 {
		return seen + ", too few to bound how often it does"
	}
	return fmt.Sprintf("%s, so it does in less than %s of them", seen, percent(3/float64(r.rounds)))
}

// worths groups the passed scenarios by their rounds, most rounds first.
func worths(r checker.Report) []rounds {
	var list []rounds
	for _, res := range r.Results {
		n, passed := exercisedRounds(res)
		if !passed {
			continue
		}
		i := slices.IndexFunc(list, func(w rounds) bool { return w.rounds == n })
		if i < 0 {
			i = len(list)
			list = append(list, rounds{rounds: n})
		}
		list[i].scenarios = append(list[i].scenarios, name(res.Scenario))
	}
	slices.SortStableFunc(list, func(a, b rounds) int { return b.rounds - a.rounds })
	return list
}

func percent(p float64) string {
	if p >= 0.1 {
		return fmt.Sprintf("%.0f%%", 100*p)
	}
	return fmt.Sprintf("%.2g%%", 100*p)
}

// sentence sums a run up.
func sentence(r checker.Report) string {
	if len(r.Results) == 0 {
		return "No scenario was run, so nothing is shown."
	}
	count, broke, held := countVerdicts(r), broken(r), 0
	for _, res := range r.Results {
		if res.Verdict == checker.Pass {
			held += res.Intents
		}
	}
	all, clauses := plural(len(r.Results), "scenario"), []string{}
	say := func(v checker.Verdict, what string) {
		if n := count[v]; n > 0 {
			clauses = append(clauses, fmt.Sprintf("%d of %s %s.", n, all, what))
		}
	}
	say(checker.Fail, fmt.Sprintf("failed: %s with a broken promise%s", plural(broke[checker.Fail], "intent"), worst(r)))
	say(checker.Broken, "could not be judged, because doubletap or its surroundings failed")
	say(checker.Inconclusive, "showed nothing broken, but not enough was exercised to say that it holds")
	say(checker.Mended, "did not show a bug that is known: it can be taken out of the register")
	say(checker.Known, fmt.Sprintf("failed as expected: %s with a broken promise that is known", plural(broke[checker.Known], "intent")))
	say(checker.NotApplicable, "did not apply to this target")
	say(checker.Pass, "passed: no broken promise was seen in "+plural(held, "intent"))
	if r.OwnWord {
		clauses = append(clauses, ownWord)
	}
	return strings.Join(clauses, " ")
}

// ownWord says what rows are worth that no database was asked for.
const ownWord = "The rows are the target's own word: it was asked for them, and not its database."

// heldTitle is the title of a finding's rows.
func heldTitle(r checker.Report) string {
	if r.OwnWord {
		return "What the target said that it held"
	}
	return "What the database held"
}

// broken counts the intents with a broken promise, by the verdict on their scenario.
func broken(r checker.Report) map[checker.Verdict]int {
	count := map[checker.Verdict]int{}
	for _, res := range r.Results {
		count[res.Verdict] += res.Failed
	}
	return count
}

// told says of every scenario with known findings where these are told.
func told(r checker.Report) [][2]string {
	var list [][2]string
	for _, res := range r.Results {
		links, at := []string{}, map[string][]checker.Finding{}
		for _, f := range res.Findings {
			if f.Known != "" && !slices.Contains(links, f.Known) {
				links = append(links, f.Known)
			}
			at[f.Known] = append(at[f.Known], f)
		}
		for _, link := range links {
			part := res
			part.Findings = at[link]
			list = append(list, [2]string{name(res.Scenario), share(part) + ": " + prose(link)})
		}
	}
	return list
}

func worst(r checker.Report) string {
	if all := findings(r); len(all) > 0 {
		return ", worst kind " + name(string(all[0].finding.Kind))
	}
	return ""
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// duration writes a time span with two digits that matter.
func duration(o history.Offset) string {
	d := o.Duration()
	switch abs := d.Abs(); {
	case abs == 0:
		return "0ms"
	case abs < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case abs < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", d.Seconds()*1e3)
	case abs < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case abs < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Abs().Seconds())%60)
	}
}

// clock writes a moment; unlike a span it keeps its milliseconds, since moments are compared.
func clock(o history.Offset) string {
	if d := o.Duration(); d.Abs() >= time.Second {
		return fmt.Sprintf("%.3fs", d.Seconds())
	}
	return duration(o)
}

// command fills a finding's id into the command that shows it again.
func about(command, id string) string { return strings.ReplaceAll(command, "{}", id) }

// moment says in words when a finding showed.
func moment(f checker.Finding) string {
	switch f.Moment {
	case history.T1Name:
		return "at T1, before the final probe"
	case history.T2Name:
		return "at T2, after the final probe"
	case "":
		return "at no recorded moment"
	default:
		return f.Moment
	}
}

// concerning names what a finding is about.
func concerning(f checker.Finding) string {
	if f.Intent == checker.EveryIntent {
		return "all intents together"
	}
	return "intent " + name(f.Intent)
}

// tightness says of every scenario with bursts how far apart their members were let go.
func tightness(r checker.Report) [][2]string {
	var list [][2]string
	for _, res := range r.Results {
		b := res.Bursts
		if b == nil {
			continue
		}
		where := map[checker.Gate]string{
			checker.GateDoorstep: "at the target's doorstep, behind the lane's faults",
			checker.GateLane:     "in front of the lane, whose faults may have pulled them apart again",
			checker.GateWrite:    "in one write for all streams of a connection, which the lane's faults delay alike",
		}[b.Gate]
		text := fmt.Sprintf("%s of up to %d requests, let go within %s (median), %s (90%%), %s (all), %s",
			plural(b.Count, "burst"), b.Members, briefly(b.Median), briefly(b.P90), briefly(b.Most), where)
		if h := b.Hits; h != nil {
			text += fmt.Sprintf("; on this machine they hit a window of %s in half of the bursts and one of %s in 95 of 100 (calibrated with %s)",
				briefly(h.Half), briefly(h.Most), plural(h.Bursts, "burst"))
		}
		list = append(list, [2]string{name(res.Scenario), text})
	}
	return list
}

// crowds says of every scenario that held back the writers of a table how many stood in line.
func crowds(r checker.Report) [][2]string {
	var list [][2]string
	for _, res := range r.Results {
		w := res.Writers
		if w == nil {
			continue
		}
		text := fmt.Sprintf("the writers of %s were held back in %d of %s", strings.Join(w.Tables, " and "), w.Held, plural(w.Of, "burst"))
		if w.Held == 0 {
			text = fmt.Sprintf("nobody's writes were held back in %s: the table could not be locked", plural(w.Of, "burst"))
		}
		if n := len(w.Waiting); n > 0 {
			text += fmt.Sprintf("; %d to %d of them stood in line (median %d)", w.Waiting[0], w.Waiting[n-1], w.Waiting[n/2])
		}
		list = append(list, [2]string{name(res.Scenario), text})
	}
	return list
}

// mostPhases bounds how many phases of a request are listed.
const mostPhases = 8

// phases says of every sweep how the second request was answered, by how long after the first it came.
func phases(r checker.Report) [][2]string {
	var list [][2]string
	for _, res := range r.Results {
		var parts []string
		for i, p := range res.Phases {
			if i == mostPhases {
				parts = append(parts, fmt.Sprintf("and %d more changes", len(res.Phases)-i))
				break
			}
			parts = append(parts, fmt.Sprintf("%s (%s)", phase(p), plural(p.Count, "offset")))
		}
		if len(parts) > 0 {
			list = append(list, [2]string{name(res.Scenario), strings.Join(parts, "; ")})
		}
	}
	return list
}

func phase(p checker.Phase) string {
	if p.From == p.To {
		return fmt.Sprintf("at %s %s", tenths(p.From), prose(p.Answer))
	}
	return fmt.Sprintf("%s to %s %s", tenths(p.From), tenths(p.To), prose(p.Answer))
}

// tenths rounds an offset of a sweep, which is no better than that.
func tenths(o history.Offset) string { return o.Duration().Round(100 * time.Microsecond).String() }

// briefly rounds a short time for reading.
func briefly(o history.Offset) string { return o.Duration().Round(time.Microsecond).String() }
