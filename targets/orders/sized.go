package orders

import (
	"context"
	"net/http"
	"strings"

	"github.com/doubletap-harness/doubletap/targets"
)

// wholeHeader asks for an order with everything that belongs to it: the terms, which are large, or those of all years.
const (
	wholeHeader = "X-Expand"
	allTerms    = "all-terms"
)

// largeAnswer is more than a column of 64 KiB holds, and hugeAnswer more than many stores take as one document.
const (
	largeAnswer = 100 << 10
	hugeAnswer  = 1 << 20
)

// sizedAnswers is uniqueKey with answers of the size that a request asks for: with no body (RFC 7240, section 4.2), or
// large. It writes its key if records takes the answer.
func sizedAnswers(records func(answer) bool) func(*api) handler {
	return sizedReplays(records, func(recorded answer) answer { return recorded })
}

// sizedReplays is sizedAnswers with replays that are made of the recorded answer.
func sizedReplays(records func(answer) bool, replay func(recorded answer) answer) func(*api) handler {
	return func(a *api) handler {
		return needKey(func(ctx context.Context, req request) (answer, error) {
			u := newUniqueKey(a)
			u.tell = func(o order) answer { return sized(req, o) }
			u.write = func(ctx context.Context, tx *tx, req request, o order, reply answer) error {
				if !records(reply) {
					return tx.insertOrder(ctx, o)
				}
				reply.Body = packed(reply.Body)
				return writeKeyAndOrder(ctx, tx, req, o, reply)
			}
			u.replay = func(_ context.Context, first record, req request) (answer, error) {
				body, err := unpacked(first.Answer.Body)
				first.Answer.Body = body
				first.Answer = replay(first.Answer)
				return first.replayTo(req), err
			}
			return u.create(ctx, req)
		})
	}
}

func sized(req request, o order) answer {
	switch {
	case req.Header.Get("Prefer") == "return=minimal":
		return answer{Status: http.StatusCreated, Header: map[string]string{"Location": o.location()}}
	case req.Header.Get(wholeHeader) == allTerms:
		return withTerms(o, hugeAnswer)
	case req.Header.Get(wholeHeader) != "":
		return withTerms(o, largeAnswer)
	default:
		return created(o)
	}
}

// withTerms is an answer of so many bytes or more.
func withTerms(o order, bytes int) answer {
	const line = "One lamp, as ordered. "
	return jsonAnswer(http.StatusCreated, struct {
		order
		Terms string `json:"terms"`
	}{o, strings.Repeat(line, bytes/len(line)+1)}).with("Location", o.location())
}

// describeSizes says how a request asks for the sizes.
func describeSizes(o *targets.Operation, _ kind) {
	o.Answers = map[targets.AnswerSize]targets.Asking{
		targets.LargeAnswer: {Header: map[string]string{wholeHeader: "terms"}},
		targets.HugeAnswer:  {Header: map[string]string{wholeHeader: allTerms}},
		targets.EmptyAnswer: {Header: map[string]string{"Prefer": "return=minimal"}},
	}
}
