package learn

import (
	"fmt"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// steady sends the headers as the source has them where one of them went with the body, and the create was refused: it may say who asks, such as
// by the address that the body has, too, and nobody else is known. Where the answer is no other one then, they go with the body again.
func steady(i *inquiry, answer drafting.Answer) bool {
	switch {
	case !answer.Refused():
		return false
	case i.steadied != 0:
		i.file.Steady = i.file.Steady && i.steadied != answer.Status
		return false
	case !drafting.Repeats(i.file):
		return false
	}
	i.file.Steady, i.steadied = true, answer.Status
	fmt.Fprintln(i.Said, "trying with the headers as the source has them")
	return true
}
