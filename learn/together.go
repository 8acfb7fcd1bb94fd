package learn

import (
	"context"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// How many copies of a create are sent at once, and how often, to see what one is answered that meets another.
const learningBursts, learningCopies = 3, 8

// together sends copies of a create at once. It reports whether the service answers nothing any more: it is let be then.
func together(ctx context.Context, i *inquiry, asking *questioner, r *drafting.Repeated) (stuck bool) {
	for range learningBursts {
		answers := meeting(ctx, asking)
		n := len(answers)
		switch {
		case n == 0:
		case !slices.ContainsFunc(answers, func(a drafting.Answer) bool { return !a.Refused() }):
			i.declined = append(i.declined, answers[n-1]) // no copy was done, which the others could have met
		default:
			r.Bursts = append(r.Bursts, drafting.Burst{Copies: answers[:n-1], After: answers[n-1]})
			if n := unanswered(answers[:n-1]); n > 0 && ctx.Err() == nil {
				return doubtUnanswered(ctx, i, asking, n)
			}
		}
	}
	return false
}

// meeting sends copies of a create at once, and one when they are answered. A 429 says that a copy met a running one where as many creates
// at once, each under a key of its own, get none.
func meeting(ctx context.Context, asking *questioner) []drafting.Answer {
	copies := fmt.Sprintf("[{burst: {copies: %d}}, {send: {}}]", learningCopies)
	answers, _ := asking.askOnce(ctx, "burst", 1, copies)
	if throttled(answers) > 0 && answers[len(answers)-1].Done() {
		apart, _ := asking.askOnce(ctx, "apart", 1, fmt.Sprintf("[{burst: {copies: %d, key: fresh}}]", learningCopies))
		if len(apart) == learningCopies && throttled(apart) == 0 {
			for n := range answers {
				answers[n].Wait = 0
			}
			return answers
		}
	}
	if asking.holdsBack(ctx, answers) {
		answers, _ = asking.ask(ctx, "burst", 1, copies)
	}
	return answers
}

// unanswered counts requests that got no answer.
func unanswered(answers []drafting.Answer) (n int) {
	for _, a := range answers {
		if a.Status == 0 {
			n++
		}
	}
	return n
}

// doubtUnanswered says that so many copies were not answered, and whether the service is stuck: it answers nothing now.
func doubtUnanswered(ctx context.Context, i *inquiry, asking *questioner, copies int) (stuck bool) {
	doubt := fmt.Sprintf("Why %d of %d copies of a create that were sent at once got no answer: they may wait for each other, as for connections to the database of which each needs two. Runs will show it as unanswered.", copies, learningCopies)
	after, _ := asking.ask(ctx, "after", 1, "[{send: {}}]")
	if stuck = unanswered(after) > 0; stuck {
		doubt += " Another create got no answer afterwards: restart the service before a run, or let runs start it (init --start)."
	}
	fmt.Fprintf(i.Said, "not well: %s\n", doubt)
	i.file.Doubt("%s", doubt)
	return stuck
}
