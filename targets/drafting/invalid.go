package drafting

import (
	"net/http"
	"slices"
)

// Refusal is how a body is refused for what it says. The zero value: it is not, or that is not known.
type Refusal struct {
	Member Other // that has the value
	Status int
	Again  int // with which the same body is refused then, where the key is neither free nor has stored the refusal; 0: it is, or has
}

// RefusalOf reads off the answers to such a body, to its repetition and to the corrected one what became of the key. An API that answers each
// repetition so, also that of what was done, takes no key twice.
func RefusalOf(member Other, first, again, corrected Answer, r Repeated) Refusal {
	if first.Status != http.StatusBadRequest && first.Status != http.StatusUnprocessableEntity {
		return Refusal{}
	}
	refusal := Refusal{Member: member, Status: first.Status}
	if again.Refused() && again.Status != first.Status && corrected.Refused() && corrected.Status != first.Status && r.Again.Done() {
		refusal.Again = again.Status
	}
	return refusal
}

// doubtRefusal says what the refused body was answered when it came again.
func doubtRefusal(f *File) {
	if r := f.learnt.invalid; r.Again != 0 {
		f.Doubt("Whether a refusal may use a key up: a body that was refused with %d was answered %d when it came again, and so was the corrected one. Runs show it as a broken promise; if it may, take store_4xx out of the contract.", r.Status, r.Again)
	}
}

// writeInvalid writes a body that is refused. Where none is known, one with a negative number is a comment.
func writeInvalid(f *File) {
	if r := f.learnt.invalid; r.Status != 0 {
		f.line("    invalid: %s # it was refused with %d: for a form that is corrected after it was refused", flow(changingAt(f, r.Member.Pointer, r.Member.Value)), r.Status)
		return
	}
	if f.alter != nil && !f.alter.unsent && f.alter.number() {
		f.line("    # invalid: %s # a body that is refused with a 4xx: for a form that is corrected after it was refused", flow(changing(f, int64(-1))))
	}
}

// mostInvalid bounds the members that are tried.
const mostInvalid = 4

// Invalids are members whose value the target may refuse: a number that is negative, that of an altered body first, and then a text that is empty.
func Invalids(f File) []Other {
	if f.settle() != nil {
		return nil
	}
	var numbers, texts []Other
	if f.alter != nil && !f.alter.unsent && f.alter.number() {
		numbers = append(numbers, Other{f.alter.Pointer, int64(-1)})
	}
	Scalars("", f.Draft.Body, func(pointer string, value any) {
		text, isText := value.(string)
		_, isTruth := value.(bool)
		switch {
		case value == nil || isTruth || f.Draft.Templates[pointer] != "" || f.Draft.document(pointer) || slices.Contains(f.learnt.natural, pointer):
		case isText && text != "":
			texts = append(texts, Other{pointer, ""})
		case !isText && !namesAnother.MatchString(pointer) && !slices.Contains(numbers, Other{pointer, int64(-1)}):
			numbers = append(numbers, Other{pointer, int64(-1)})
		}
	})
	all := append(numbers[:min(len(numbers), mostInvalid/2)], texts...)
	return all[:min(len(all), mostInvalid)]
}

// WithInvalid is the file with a body that the target may refuse for what it says.
func WithInvalid(f File, member Other) File {
	f.learnt.invalid = Refusal{Status: http.StatusBadRequest, Member: member}
	return f
}
