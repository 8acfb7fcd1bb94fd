package drafting

import "net/http"

// writeInvalid writes a body with a negative number, as a comment where it is not known that it is refused.
func writeInvalid(f *File) {
	body := flow(changing(f, int64(-1)))
	if f.learnt.invalid == 0 {
		f.line("    # invalid: %s # a body that is refused with a 4xx: for a form that is corrected after it was refused", body)
		return
	}
	f.line("    invalid: %s # it was refused with %d: for a form that is corrected after it was refused", body, f.learnt.invalid)
}

// WithInvalid is the file with a body that the target may refuse for what it says. False: none is known.
func WithInvalid(f File) (File, bool) {
	f.learnt.invalid = http.StatusBadRequest
	return f, f.settle() == nil && f.alter != nil && !f.alter.unsent && f.alter.number()
}

// FindsInvalid reports that an answer refuses a body for what it says.
func FindsInvalid(a Answer) bool {
	return a.Status == http.StatusBadRequest || a.Status == http.StatusUnprocessableEntity
}
