package curl

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// The bodies that a final retry leaves alone: nothing is promised of them, or that they are refused.
const (
	altered      = "altered"
	invalid      = "invalid"
	noCredential = "no-credential"
)

// name is what a member of a body, or a header, is called, where a script can look for it.
var name = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// ordinary reports that a body is one that is to be done, and done once, for who sends it.
func ordinary(body string) bool { return body != altered && body != invalid && body != noCredential }

// judging writes what a page has about whether it happened again.
type judging struct{ *writer }

// judge writes what a script does to see whether it happened again: the final retries, and the comparison.
func (w judging) judge() {
	j := w.page.Judge
	if j.Settle > 0 && w.page.Counts() {
		w.page.Settled = w.seconds(j.Settle)
	}
	if j.Late || j.Sees == Refused || j.Sees == Mixed {
		w.finalRetries()
	}
	if j.Sees == Refused || j.Sees == Unanswered || j.Sees == Died {
		w.control()
	}
	write := map[Condition]func(){
		TooMany: w.tooMany,
		Lost:    w.lost, Phantom: w.phantom, Refused: w.refused, Mixed: w.mixed, Unanswered: w.unanswered, Altered: w.bothBodies,
		Corrected: w.corrected, Keyless: w.keyless, Differs: w.differs, Leaked: w.leaked, Told: w.told, Undeclared: w.undeclared, Died: w.died, Wrong: w.effects, Gone: w.gone,
	}[j.Sees]
	if write != nil {
		write()
	}
	commands := strings.Join(slices.Concat(w.page.Checks, w.page.After, []string{w.page.Control}, slices.Concat(w.page.Moves...)), "\n")
	if w.page.Control != "" {
		commands += "\nsettled_at control"
	}
	w.page.Tells, w.page.Narrowed = j.Means.functions(commands)
	w.page.Compares = strings.Contains(commands, "same_answers")
}

// check adds a command behind the requests of a try; commands set $again where it happened again.
func (w judging) check(format string, args ...any) {
	w.page.Checks = append(w.page.Checks, fmt.Sprintf(format, args...))
}

// finalRetries sends every key once more with every body that is to be done, with backoff, until it is.
func (w judging) finalRetries() {
	forgot := map[string]int{}
	for _, a := range w.page.asked {
		forgot[a.intent] = max(forgot[a.intent], a.forgot)
	}
	for _, a := range w.page.asked {
		if !ordinary(a.attempt.Body) || a.request.Key == "" && w.page.Judge.Sees != Mixed {
			continue
		}
		whole := fmt.Sprint(a.request.Method, a.request.Path, a.request.Header, string(a.request.Body))
		file, known := w.final[whole]
		if !known {
			plain := a.attempt
			plain.Timeout = scenarios.Span{}
			line := w.alone(plain)
			file = fmt.Sprint(w.sent)
			w.final[whole] = file
			if w.page.Signed {
				line = "now=$(date +%s)\n" + line
			}
			w.page.After = append(w.page.After, fmt.Sprintf(
				"# The final retry of %s: until it is done, with backoff.\nfor pause in 0.1 0.2 0.4 0.8 1.6; do\n%s\nsettled_at %s && break\nsleep \"$pause\"\ndone", a.intent, line, file))
		}
		if a.forgot == forgot[a.intent] {
			a.final = file
		}
	}
}

// control is a plain request, with names of its own.
func (w judging) control() {
	i := slices.IndexFunc(w.page.asked, func(a *asked) bool {
		return ordinary(a.attempt.Body) && a.request.Key != ""
	})
	if i < 0 {
		return
	}
	plain := w.page.asked[i].attempt
	plain.Timeout = scenarios.Span{}
	line := w.alone(plain)
	w.page.Control = strings.Replace(line, fmt.Sprintf("--output %d ", w.sent), "--output control ", 1)
	if w.page.Signed {
		w.page.Control = "now=$(date +%s)\n" + w.page.Control
	}
}

// answers are the files of all answers to some requests.
func answers(of []*asked) string {
	var all []string
	for _, a := range of {
		all = append(all, a.files...)
		if a.final != "" && !slices.Contains(all, a.final) {
			all = append(all, a.final)
		}
	}
	return strings.Join(all, " ")
}

// eachMarker writes a check for the rows of each marker: $number of them, and $found itself.
func (w judging) eachMarker(check func(marker string, of []*asked) string) {
	for n, q := range w.page.Queries {
		var of []*asked
		for _, a := range w.page.asked {
			if a.marker == q.Marker {
				of = append(of, a)
			}
		}
		w.check("count \"$%s\" \"$query_%d\"\n%s", q.Marker, n, check(q.Marker, of))
	}
}

// tooMany compares the rows of intents with how many there may be: one for each key, or for each intent where that is what the
// target goes by, and one more whenever the key was forgotten. Intents that send the same body are counted together.
func (w judging) tooMany() {
	group := map[string]int{} // by intent and by marker
	for n, a := range w.page.asked {
		intent, marker := "i "+a.intent, "m "+a.marker
		from, to := group[marker], group[intent]
		switch {
		case from == 0 && to == 0:
			group[intent], group[marker] = n+1, n+1
		case from == 0:
			group[marker] = to
		case to == 0:
			group[intent] = from
		default:
			for name, g := range group {
				if g == from {
					group[name] = to
				}
			}
		}
	}
	intents, first := map[int]int{}, map[int]bool{}
	counted := map[string]bool{}
	for _, a := range w.page.asked {
		one := a.intent
		if !w.page.Judge.Natural {
			one += " " + cmp.Or(a.request.Key, a.attempt.ID) + w.memory(a)
		}
		if ordinary(a.attempt.Body) && !counted[one] {
			counted[one] = true
			intents[group["i "+a.intent]]++
		}
	}
	for n, q := range w.page.Queries {
		g := group["m "+q.Marker]
		if !first[g] {
			first[g] = true
			w.check("of_%d=0", g)
		}
		w.check("count \"$%s\" \"$query_%d\"\nall=$((all + number)) of_%d=$((of_%d + number))\n[ $of_%d -gt %d ] && again=yes", q.Marker, n, g, g, g, intents[g])
	}
	w.tookEffect()
}

// memory names the time in which what is known of a key must be the same; empty: it may be done again at no time.
func (w judging) memory(a *asked) string {
	if w.page.Judge.Natural || w.page.Judge.Promise.Expiry.Then == contract.ExpiryReject {
		return ""
	}
	return fmt.Sprint(" ", a.forgot)
}

// lost looks for the row of what was done, and for the id that an answer named among all rows of the try. Of an altered body
// nothing is said: the answer to it may be that of the original.
func (w judging) lost() {
	w.check("everything=")
	w.eachMarker(func(_ string, of []*asked) string {
		own := w.among(of, ordinary)
		if len(own) == 0 {
			return `everything+=$found`
		}
		if w.page.Judge.Each {
			return "everything+=$found\n" + w.rowForEach(own)
		}
		return fmt.Sprintf("everything+=$found\n[ \"$number\" -gt 0 ] || ! some_done %s || again=yes", answers(own))
	})
	own := w.withBody(ordinary)
	if id := w.identity(`"$name"`); id != "" {
		w.check("for name in %s; do\n  done_at \"$name\" || continue\n  id=$(%s)\n  [ -z \"$id\" ] || grep -qF -- \"$id\" <<<\"$everything\" || again=yes\ndone", answers(own), id)
	}
	w.done()
}

// rowForEach counts the intents that were done, and compares that with the rows.
func (w judging) rowForEach(of []*asked) string {
	byIntent, order := map[string][]*asked{}, []string{}
	for _, a := range of {
		if byIntent[a.intent] == nil {
			order = append(order, a.intent)
		}
		byIntent[a.intent] = append(byIntent[a.intent], a)
	}
	lines := "told=0"
	for _, intent := range order {
		lines += fmt.Sprintf("\nsome_done %s && told=$((told + 1))", answers(byIntent[intent]))
	}
	return lines + "\n[ \"$number\" -ge $told ] || again=yes"
}

// gone looks at what is sent after a removal: it is to be done as if nothing had been there before.
func (w judging) gone() {
	w.eachMarker(func(_ string, of []*asked) string {
		after := w.among(of, ordinary)
		after = slices.DeleteFunc(after, func(a *asked) bool { return !a.removed })
		if len(after) == 0 {
			return ":"
		}
		return fmt.Sprintf("[ \"$number\" -gt 0 ] || some_fresh %s || ! some_answered %s || again=yes", answers(after), answers(after))
	})
	w.reached()
}

// phantom looks for a row of a marker, all of whose requests were answered, and none of them
// finally.
func (w judging) phantom() {
	w.eachMarker(func(_ string, of []*asked) string {
		return fmt.Sprintf("[ \"$number\" -gt 0 ] && ! some_settled %s && all_answered %s && again=yes", answers(of), answers(of))
	})
	w.reached()
}

// reached stops where no request was answered: then nothing can happen.
func (w judging) reached() {
	w.check("some_answered %s || stop \"no request was answered, so nothing could happen again\"", answers(w.page.asked))
}

// done notes that no request was done, as where the target declines some.
func (w judging) done() {
	w.check("some_done %s || idle=\"no request was done, so nothing could happen again: see the answers\"", answers(w.page.asked))
}

// tookEffect notes that no row was counted, as where the target declines some requests.
func (w judging) tookEffect() {
	w.check("[ $all -gt 0 ] || idle=\"no request took effect, so nothing could happen again: see the answers\"")
}

// finals are the answers to final retries.
func finals(final map[string]string) string {
	var all []string
	for _, file := range final {
		all = append(all, file)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// refused looks for a key that no final retry settles.
func (w judging) refused() { w.check("all_settled %s || again=yes", finals(w.final)) }

// mixed looks for final retries of which some are done and others refused: those that are done
// show that the target works.
func (w judging) mixed() {
	w.check("some_done %s && ! all_settled %s && again=yes", finals(w.final), finals(w.final))
	w.reached()
}

// unanswered looks for a request without an answer, of those to which the script gave all the time
// there is.
func (w judging) unanswered() {
	var patient []*asked
	for _, a := range w.page.asked {
		if a.patient {
			patient = append(patient, a)
		}
	}
	w.check("all_answered %s || again=yes", answers(patient))
}

// withBody are the requests of the plan with some kind of body.
func (w judging) withBody(is func(body string) bool) []*asked { return w.among(w.page.asked, is) }

// among are those of some requests that have some kind of body.
func (w judging) among(all []*asked, is func(body string) bool) (of []*asked) {
	for _, a := range all {
		if is(a.attempt.Body) {
			of = append(of, a)
		}
	}
	return of
}

// bothBodies looks for a key under which two bodies were done.
func (w judging) bothBodies() {
	one, other := w.withBody(func(b string) bool { return b != altered }), w.withBody(func(b string) bool { return b == altered })
	w.check("some_done %s && some_fresh %s && again=yes", answers(one), answers(other))
	w.reached()
}

// corrected looks for a corrected body that was done under the key of the one that was refused.
func (w judging) corrected() {
	w.check("some_fresh %s && again=yes", answers(w.withBody(func(b string) bool { return b != invalid })))
	w.reached()
}

// keyless looks for a request without a key that was done.
func (w judging) keyless() {
	var of []*asked
	for _, a := range w.page.asked {
		if a.request.Key == "" {
			of = append(of, a)
		}
	}
	w.check("some_fresh %s && again=yes", answers(of))
	w.reached()
}

// differs compares the answers to one intent at one operation, while its key must be known, in what the finding says that
// differs. Answers of other operations may have another form.
func (w judging) differs() {
	groups, order := map[string][]*asked{}, []string{}
	groupOf := func(a *asked) string { return fmt.Sprint(a.intent, a.request.Operation, " ", a.forgot) }
	for _, a := range w.withBody(ordinary) {
		of := groupOf(a)
		if groups[of] == nil {
			order = append(order, of)
		}
		groups[of] = append(groups[of], a)
	}
	for _, a := range w.withBody(func(b string) bool { return b == altered }) { // it gets the first answer again, where that is promised
		groups[groupOf(a)] = append(groups[groupOf(a)], a)
	}
	for _, of := range order {
		var parts []string
		for _, where := range w.page.Judge.Where {
			id := w.identity(`"$1"`)
			switch {
			case where == "status":
				parts = append(parts, `status "$1"`)
			case where == "identity" && id != "":
				parts = append(parts, id)
			case strings.HasPrefix(where, "/"):
				parts = append(parts, w.takeBy("value", `"$1"`, where))
			case where != "body" && !strings.Contains(where, "/") && name.MatchString(where):
				parts = append(parts, fmt.Sprintf(`header %s "$1"`, where))
			default:
				parts = append(parts, `body "$1"`)
			}
		}
		w.check("compared() { %s; }\nsame_answers %s || again=yes", strings.Join(append(parts, ":"), "; "), answers(groups[of]))
	}
	w.done()
}

// leaked looks in the answers to one intent for the marker, or the thing, of another.
func (w judging) leaked() {
	known := w.page.Judge.Identity != contract.Identity{}
	for _, a := range w.page.asked {
		for _, other := range w.page.asked {
			switch {
			case other.intent == a.intent:
			case other.marker != a.marker:
				w.check("for name in %s; do body \"$name\" | grep -qF -- \"$%s\" && again=yes; done", answers([]*asked{a}), other.marker)
			case known && a.attempt.ID < other.attempt.ID:
				w.check("id=$(%s) other=$(%s)\n[ -n \"$id\" ] && [ \"$id\" = \"$other\" ] && again=yes", w.identity(a.files[0]), w.identity(other.files[0]))
			}
		}
	}
	w.done()
}

// told looks for a request without a credential that was done when there was something to tell of, and not before.
func (w judging) told() {
	var before, after []*asked
	done := map[string]bool{}
	for _, a := range w.page.asked {
		switch {
		case a.attempt.Body != noCredential:
			done[a.intent] = true
		case done[a.intent]:
			after = append(after, a)
		default:
			before = append(before, a)
		}
	}
	w.check("some_fresh %s && ! some_fresh %s && again=yes", answers(after), answers(before))
	w.reached()
}

// undeclared looks for an answer below 400 that no line of the contract names.
func (w judging) undeclared() {
	w.check("for name in %s; do named_at \"$name\" || { [ \"$(status \"$name\")\" -lt 400 ] && again=yes; }; done", answers(w.withBody(ordinary)))
	w.reached()
}

// died sends a new request after all others: at a target that died it is not settled.
func (w judging) died() {
	w.check("tolerant=yes\ndraw\n%s\nsettled_at control || again=yes", "rm -f control\n"+w.page.Control)
}
