package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/doubletap-harness/doubletap/targets"
)

// Look sends a GET of the harness's own to a URL of the target, on no lane, once, and returns the status and
// the text of the answer, with the secrets in it masked. The error says why the answer is not complete. Safe for
// concurrent use.
func (s *Sender) Look(ctx context.Context, where string, header map[string]string) (status int, text string, err error) {
	if err := s.config.Pace.Wait(ctx, 1); err != nil {
		return 0, "", err
	}
	mask := s.requests.secrets
	answer, err := get(ctx, s.config.Target, where, header)
	s.config.Pace.hold(RetryAfter(answer))
	switch {
	case err != nil:
		return 0, "", errors.New(mask.text(err.Error()))
	case answer.Digest != "":
		return 0, "", fmt.Errorf("the answer is no text, or longer than %d MiB", longestAnswer>>20)
	}
	return answer.Status, mask.text(answer.Content), nil
}

// Views returns for every marker of the plan what a question about it is rendered with:
// once for each principal that sends it, since the target may show one what it does not
// show another. Call it after SetUp: values hold what logins gave.
func (s *Sender) Views() map[string][]targets.Values {
	views := map[string][]targets.Values{}
	seen := map[string]bool{}
	for _, i := range s.config.Plan.Intents {
		for _, body := range bodiesOf(i) {
			values, who := s.requests.values(i, body), s.config.principal(i).Name
			if marker := s.config.marker(i, body); !seen[marker+" "+who] {
				seen[marker+" "+who] = true
				views[marker] = append(views[marker], values)
			}
		}
	}
	return views
}
