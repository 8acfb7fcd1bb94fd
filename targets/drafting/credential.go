package drafting

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Credential is the headers that say who sends, and how a create without them was refused. The zero value: none are known.
type Credential struct {
	Headers []string
	Status  int
}

// CredentialOf is the headers of a file's creates that may say who sends; none: it has none. The key is none of them.
func CredentialOf(f File) (c Credential) {
	d := f.Draft
	for _, name := range slices.Sorted(maps.Keys(d.Header)) {
		if HoldsSecret(name) && !strings.EqualFold(name, d.Key.Name) {
			c.Headers = append(c.Headers, name)
		}
	}
	if d.Sign != nil {
		c.Headers = append(c.Headers, d.Sign.Sign.Header)
	}
	return c
}

// WithCredential is the file with headers without which a create is to be refused.
func WithCredential(f File, c Credential) File {
	f.learnt.credential = c
	return f
}

// AsksWho reports that an answer refuses a request for who sends it.
func (a Answer) AsksWho() bool {
	return a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden
}

// writeCredential writes the headers that say who sends.
func writeCredential(f *File) {
	if c := f.learnt.credential; len(c.Headers) > 0 {
		f.line("      credential: %s # a create without it was refused with %d: nobody without it may be told of one", flow(c.Headers), c.Status)
	}
}
