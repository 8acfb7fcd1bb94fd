package drafting

import "net/http"

// Refusal is how a body is refused for what it says. The zero value: it is not, or that is not known.
type Refusal struct {
	Status int
	Again  int // with which the same body is refused then, where the key is neither free nor has stored the refusal; 0: it is, or has
}

// RefusalOf reads off the answers to such a body, to its repetition and to the corrected one what became of the key. An API that answers each
// repetition so, also that of what was done, takes no key twice.
func RefusalOf(first, again, corrected Answer, r Repeated) Refusal {
	if first.Status != http.StatusBadRequest && first.Status != http.StatusUnprocessableEntity {
		return Refusal{}
	}
	refusal := Refusal{Status: first.Status}
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

// writeInvalid writes a body with a negative number, as a comment where it is not known that it is refused.
func writeInvalid(f *File) {
	body := flow(changing(f, int64(-1)))
	if f.learnt.invalid.Status == 0 {
		f.line("    # invalid: %s # a body that is refused with a 4xx: for a form that is corrected after it was refused", body)
		return
	}
	f.line("    invalid: %s # it was refused with %d: for a form that is corrected after it was refused", body, f.learnt.invalid.Status)
}

// WithInvalid is the file with a body that the target may refuse for what it says. False: none is known.
func WithInvalid(f File) (File, bool) {
	f.learnt.invalid.Status = http.StatusBadRequest
	return f, f.settle() == nil && f.alter != nil && !f.alter.unsent && f.alter.number()
}
