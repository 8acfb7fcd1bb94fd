package learn

import (
	"context"
	"fmt"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// sameBehind is how often another create is sent right behind one with the same value of a header, to see whether it makes a row each time.
const sameBehind = 4

// headerInstead looks for the header of the source that makes two creates one, where another create with its value made a row of its own. A queue may
// take no job while one of the same name waits, and whether one waits is chance. So the same request makes another row with another value of the
// header, and another create makes none with the same value, at least once.
func headerInstead(ctx context.Context, i *inquiry, r *drafting.Repeated) (bool, error) {
	without := i.file.Draft
	for _, key := range without.KeyPlaces() {
		if key.In != contract.KeyInHeader {
			continue
		}
		i.file.Draft = without.WithKeyIn(key)
		if givesAnother(ctx, i) && crowdsOut(ctx, i, without) {
			fmt.Fprintf(i.Said, "another create with the same %s made no row, and the same request with another one did: it is the key\n", key.Name)
			with, is, err := underKey(ctx, i)
			if is || err != nil || with.Rows > 1 {
				i.file.KeySeen = "with another value of this header the same request made another row, and with the same value another create made none"
				*r = with
				return true, err
			}
		}
		i.file.Draft = without
	}
	return false, ctx.Err()
}

// crowdsOut reports that of two creates of a draft right behind each other, whose headers are the same, the second makes no row.
func crowdsOut(ctx context.Context, i *inquiry, draft drafting.Draft) bool {
	file := i.file
	file.Draft = draft
	asking, err := i.questionerFor(file)
	if err != nil {
		return false
	}
	for range sameBehind {
		answers, markers := asking.ask(ctx, "same-header", 2, "[{send: {}}]")
		if len(answers) == 2 && answers[0].Done() && answers[1].Done() && i.made(ctx, markers[0]) == 1 && i.made(ctx, markers[1]) == 0 {
			return true
		}
	}
	return false
}
