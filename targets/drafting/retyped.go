package drafting

import (
	"fmt"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// retyped doubts repetitions that have what the first answer has in another type, such as numbers as texts, as drivers give what they read back.
func retyped(f *File, first Answer, again []Answer) {
	for _, a := range again {
		at := ""
		Scalars("", first.Body, func(pointer string, value any) {
			if other, there := jsonpointer.Resolve(a.Body, pointer); at == "" && there && asText(value) != asText(other) && fmt.Sprint(value) == fmt.Sprint(other) {
				at = pointer
			}
		})
		if at != "" {
			f.Doubt("Whether a repetition may write %s in another type: what is a number in one answer was a text in the other, which many clients cannot read. Runs compare no more than %s, as text; if it must not be, take body: identity out of replay.", at, f.named().Where())
			return
		}
	}
}

func asText(value any) bool {
	_, is := value.(string)
	return is
}
