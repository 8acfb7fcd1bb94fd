package drafting

import (
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// Spelling is a target whose contract ignores one thing of how the natural key is spelled.
type Spelling struct {
	Target  targets.Target
	Ignored contract.Ignored
}

// Spellings are those in which requests of a target can name the same thing; none: there is no natural key that could be spelled otherwise.
func Spellings(f File, t targets.Target, r Repeated) (all []Spelling) {
	natural := f.NaturalKey(r)
	if len(natural) != 1 || natural[0] == contract.WholePath {
		return nil
	}
	t.Contract.NaturalKey = natural
	for _, ignored := range []contract.Ignored{contract.IgnoresCase, contract.IgnoresBlanks} {
		if t.Contract.NaturalKeyIgnores = []contract.Ignored{ignored}; t.Renames(t.Operations[f.Draft.Name]) {
			all = append(all, Spelling{t, ignored})
		}
	}
	return all
}
