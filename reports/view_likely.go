package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/diagnosis"
)

// likelyView is what the code of the target probably does, and how that is mended, in words.
type likelyView struct {
	Cause   string   // the likeliest, with its likelihood
	Does    string   // what the code does then
	Others  []string // further ones
	Apart   string   // what would tell the first two apart; empty: nothing that the run did not do
	Look    string
	Mend    string
	Command string            // writes the code
	Code    []codeView        // for each database or stack
	Guesses []diagnosis.Guess // as they were made
}

// codeView is the code of a mend for one stack.
type codeView struct{ Stack, Note, Code string }

// noKnownCause is said where no defect fits.
const noKnownCause = "no known cause shows what this run showed"

// newLikelyView says a diagnosis in words. Program is the command that the run was made with; empty: it is not known.
func newLikelyView(d diagnosis.Diagnosis, program string) likelyView {
	v := likelyView{Cause: noKnownCause, Guesses: d.Guesses}
	for i, g := range d.Guesses {
		defect, _ := diagnosis.Named(g.Defect)
		if i > 0 {
			first, _, _ := strings.Cut(defect.Does, ". ")
			v.Others = append(v.Others, fmt.Sprintf("or %s (%s): %s", defect.Name, whole(g.Likelihood), ended(strings.TrimSuffix(first, "."))))
			continue
		}
		v.Cause, v.Does, v.Mend = fmt.Sprintf("%s (%s likely)", defect.Name, whole(g.Likelihood)), defect.Does, defect.Mend
		v.Look = "Look for " + defect.Look + "."
		page, has := defect.Page()
		if has {
			v.Command = joined([]string{program, "mend", defect.Name}, " ")
		}
		for _, s := range page.Sections {
			v.Code = append(v.Code, codeView{s.Stack, s.Note, s.Code})
		}
	}
	if d.Apart != "" {
		passes := d.Guesses[0].Defect
		if passes == d.Fails {
			passes = d.Guesses[1].Defect
		}
		v.Apart = fmt.Sprintf("Play %s: it fails with %s, and hardly with %s.", d.Apart, d.Fails, passes)
	}
	return v
}

// anyKey is a word for a key, and naturalKeys is what is said of it where the operation takes none.
var (
	anyKey      = regexp.MustCompile(`\b(?:natural |unique |primary |foreign |Enter |idempotency )?keys?\b`)
	naturalKeys = strings.NewReplacer("the key or the row", "the row", "the key or on the natural key", "the natural key")
)

// natural speaks of the natural key, as the operation takes no other.
func (v *likelyView) natural() {
	for _, text := range []*string{&v.Does, &v.Mend, &v.Look} {
		*text = ofNaturalKey(*text)
	}
	for i := range v.Others {
		v.Others[i] = ofNaturalKey(v.Others[i])
	}
}

// ofNaturalKey says a text of the natural key.
func ofNaturalKey(text string) string {
	return anyKey.ReplaceAllStringFunc(naturalKeys.Replace(text), func(word string) string {
		kind, _, several := strings.Cut(word, " ")
		switch {
		case !several:
			return "natural " + word
		case kind == "idempotency":
			return "natural " + strings.TrimPrefix(word, "idempotency ")
		default:
			return word
		}
	})
}

// inFile says which lines of a target file would make a correct target show a cause: where each plain repetition is executed, or where plain
// creates show that a row holds something else than was sent; empty: there is no file, or none would.
func inFile(r checker.Report, c checker.Cause, d diagnosis.Diagnosis) string {
	_, target, named := strings.Cut(r.Again, "--target ")
	if !named || strings.HasPrefix(strings.TrimLeft(target, "'"), "builtin:") || strings.HasPrefix(strings.TrimLeft(target, "'"), "served:") {
		return ""
	}
	first := r.Results[c.Members[0].Result].Findings[c.Members[0].Finding]
	each := slices.ContainsFunc(c.Scenarios, func(s checker.CauseIn) bool { return s.Scenario == "sequential-replay" && s.Broke == s.Of })
	switch {
	case len(d.Guesses) > 0 && d.Guesses[0].Defect == "repeat-not-recognised" && each && byNaturalKey(first):
		return "In the target file, see whether contract.natural_key is what the API goes by, and whether rows finds no line for each request."
	case len(d.Guesses) > 0 && d.Guesses[0].Defect == "repeat-not-recognised" && each:
		return "In the target file, see whether key.in and key.name say where the API reads its key, and whether rows finds no line for each request."
	case c.Kind == checker.AlteredBody && first.Detail == "content" && len(c.Circumstances) == 0:
		return "In the target file, see whether rows.content names the right member for each column, in the same unit."
	}
	return ""
}

// notes labels what there is to say, for those who list it.
func (v likelyView) notes() []note {
	list := []note{{"Likely cause", joined([]string{v.Cause, v.Does}, ": ")}}
	for _, other := range v.Others {
		list = append(list, note{"", other})
	}
	return present(append(list, note{"What tells them apart", v.Apart}, note{"Where to look", v.Look}, note{"How to mend it", v.Mend}))
}

// whole writes a likelihood, which has no meaning behind the point.
func whole(p float64) string { return fmt.Sprintf("%.0f%%", 100*p) }
