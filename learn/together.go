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
	most := 1
	for range learningBursts {
		answers, marker := meeting(ctx, asking)
		if r.Rows == 1 && marker != "" {
			most = max(most, i.file.Proof.Count(rowsIn(search(ctx, i, marker), i.file.Proof.Table)))
		}
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
	if most > 1 {
		fmt.Fprintf(i.Said, "not well: %d copies of one create that were sent at once made %d rows; runs show when, and why\n", learningCopies, most)
	}
	return false
}

// meeting sends copies of a create at once, and one when they are answered. A 429 says that a copy met a running one where as many creates
// at once, each under a key of its own, get none. Marker is that of the create.
func meeting(ctx context.Context, asking *questioner) (answers []drafting.Answer, marker string) {
	copies := fmt.Sprintf("[{burst: {copies: %d}}, {send: {}}]", learningCopies)
	answers, markers := asking.askOnce(ctx, "burst", 1, copies)
	if throttled(answers) > 0 && answers[len(answers)-1].Done() {
		apart, _ := asking.askOnce(ctx, "apart", 1, fmt.Sprintf("[{burst: {copies: %d, key: fresh}}]", learningCopies))
		if len(apart) == learningCopies && throttled(apart) == 0 {
			for n := range answers {
				answers[n].Wait = 0
			}
			return answers, first(markers)
		}
	}
	if asking.holdsBack(ctx, answers) {
		answers, markers = asking.ask(ctx, "burst", 1, copies)
	}
	return answers, first(markers)
}

// first is the first of some texts; empty: there is none.
func first(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
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
