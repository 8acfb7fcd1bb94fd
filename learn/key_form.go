package learn

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// formed is which keys were drawn in the form of the source's, and how the last one was drawn before.
type formed struct {
	tried  []string // what their places are called
	before contract.Key
}

// inItsForm has creates sent with a key of the form that the source's has, where one with another key was refused. It says so; empty: it does not.
func inItsForm(i *inquiry, answer drafting.Answer) string {
	about := answer.Refused() && !slices.Contains([]int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusTooManyRequests}, answer.Status)
	before := i.file.Draft.Key
	called := drafting.Called(before)
	if !about || slices.Contains(i.formed.tried, called) || !drafting.LikeItsSource(&i.file.Draft) {
		return ""
	}
	i.formed = formed{tried: append(i.formed.tried, called), before: before.Key}
	if i.plain != nil && i.plain.Key.Key == before.Key {
		i.plain.Key = i.file.Draft.Key
	}
	i.declined = nil // for their keys
	return "a key like the source's"
}

// anotherForm reports that the next create has a key of another form.
func anotherForm(i *inquiry, answer drafting.Answer, why string) bool {
	with := inItsForm(i, answer)
	if with != "" {
		fmt.Fprintf(i.Said, "%s\ntrying with %s\n", why, with)
	}
	return with != ""
}

// needsItsForm sends a create with a UUID for its key, where keys have had the form of the source's since a refusal: if it is done, the refusal was
// about something else, and any text is a key.
func needsItsForm(ctx context.Context, i *inquiry) error {
	if i.file.Draft.Key.Like == "" || len(i.formed.tried) == 0 { // or a document says it
		return nil
	}
	with := i.file.Draft
	i.file.Draft.Key.Key = i.formed.before
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	if answers, _ := asking.ask(ctx, "form", 1, "[{send: {}}]"); len(answers) == 0 || !answers[0].Done() {
		i.file.Draft = with
	}
	return ctx.Err()
}

// heldInItsForm repeats a create with keys of the form that the source's has, where a repetition under a UUID made a second row: what does not look
// like a key may be taken for none. It returns what came of the repetition then, or what it was given.
func heldInItsForm(ctx context.Context, i *inquiry, r drafting.Repeated) (drafting.Repeated, error) {
	before := i.file.Draft
	if !drafting.LikeItsSource(&i.file.Draft) {
		return r, nil
	}
	fmt.Fprintf(i.Said, "the same request again made %d rows; repeating a create with a key like the source's\n", r.Rows)
	with, is, err := underKey(ctx, i)
	if is || err != nil {
		return with, err
	}
	i.file.Draft = before
	return r, nil
}
