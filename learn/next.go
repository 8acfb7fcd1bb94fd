package learn

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// goesOn holds that one more create is done as the second was. What was stored with a marker first, and had the source's value in the second, may be
// taken by now, as a user's name is. Such members differ then, one of them if that helps, and else all. It returns what comes of a repetition then, or
// what it was given.
func goesOn(ctx context.Context, i *inquiry, r drafting.Repeated) (drafting.Repeated, error) {
	left := drafting.Left(i.file, i.stored)
	if len(left) == 0 {
		return r, nil
	}
	refused, err := nextRefused(ctx, i, nil, nextTries)
	if err != nil || refused == nil {
		return r, err
	}
	var tries [][]string
	for _, pointer := range left {
		tries = append(tries, []string{pointer})
	}
	if len(left) > 1 {
		tries = append(tries, left)
	}
	for _, members := range tries {
		fmt.Fprintf(i.Said, "a third create was answered %d; trying with another value in %s\n", refused.Status, strings.Join(members, ", "))
		still, err := nextRefused(ctx, i, members, nextTries)
		if err != nil {
			return r, err
		}
		if still != nil {
			continue
		}
		i.file.Differing = slices.Concat(i.file.Differing, members)
		asking, err := i.questioner()
		if err != nil {
			return r, err
		}
		if again, err := i.repeatedOnce(ctx, asking); err != nil || again.First.Done() && again.Rows > 0 {
			return again, err
		}
		return r, nil
	}
	i.file.Doubt("Whether creates go on as the file has them: a third one was answered %d (%s), also with another value in %s. Let what must be another one in each create differ, as by {{.Intent.Reference}}.",
		refused.Status, driver.Snippet(refused.Written), strings.Join(left, " or "))
	return r, nil
}

// usedUp finds that a create with new values is refused in the end, just as a repetition was or as other creates were before: what creates take from, such
// as a payment that is refunded, the seats of a hall or the uses of a code, has come to its end meanwhile, and the refusal may say that, and not that
// something is there.
func usedUp(ctx context.Context, i *inquiry, r drafting.Repeated) error {
	said, as, tries := r.Retold(), "a repetition was", nextTries
	if !said.Refused() && len(i.declined) > 0 {
		said, as, tries = i.declined[len(i.declined)-1], "others before it were", declinedTries
	}
	if !said.Refused() || said.Status == http.StatusPaymentRequired {
		return nil
	}
	refused, err := nextRefused(ctx, i, nil, tries)
	if err != nil || refused == nil || !drafting.SameRefusal(said, *refused) {
		return err
	}
	i.file.Doubt("Whether creates are still done: in the end, one with new values was refused as %s, with %d (%s). If what they take from is used up, "+
		"such as a stock, a limit or a balance, make it large and call init again: what the file says of refusals is not to be trusted, and runs will stop at their first create.",
		as, refused.Status, driver.Snippet(refused.Written))
	return nil
}

// How often a create is sent that is not done: some fail by chance, and where some were declined, each may be for a while.
const (
	nextTries     = 3
	declinedTries = 10
)

// nextRefused is the answer to another create with other values in some members, where it is not done; nil: it is, or the answer says nothing of the body.
func nextRefused(ctx context.Context, i *inquiry, differing []string, tries int) (*drafting.Answer, error) {
	other := i.file
	other.Differing = slices.Concat(other.Differing, differing)
	asking, err := i.questionerFor(other)
	if err != nil {
		return nil, err
	}
	var refused *drafting.Answer
	for range tries {
		answers, _ := asking.ask(ctx, "next", 1, "[{send: {}}]")
		if len(answers) == 0 || answers[0].Done() || slices.Contains([]int{0, http.StatusPaymentRequired, http.StatusTooManyRequests}, answers[0].Status) {
			return nil, asking.err
		}
		refused = &answers[0]
	}
	return refused, asking.err
}
