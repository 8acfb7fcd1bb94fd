package orders

import (
	"context"
	"errors"
)

// addsAgain adds to the line before it looks at the key.
//
// There is one line however often a request is sent, and that is what was tested. But the insert that finds its row is an
// addition, and none of its repetitions is refused: the key decides which answer is given, and not whether there is
// anything to do.
type addsAgain struct{ *api }

func addsAgainDesign() Design {
	return Design{
		Name:     "adds-again",
		Summary:  "adds to the line before it looks at the key: a repeat makes no second row and gets the first answer, but adds again",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "adds-to-line",
		Shows:    []string{"duplicate"},
		By:       []string{"sequential-replay", "burst-same-key", "withheld-answer"},
		schema:   []string{ordersTable, lineIndex, keysTable},
		handler:  func(a *api) handler { return needKey(addsAgain{a}.create) },
		describe: describeSum,
	}
}

func (l addsAgain) create(ctx context.Context, req request) (answer, error) {
	var o order
	err := l.db.retry(ctx, func() error {
		return l.db.transaction(ctx, func(tx *tx) (err error) {
			o, err = tx.addToLine(ctx, req)
			return errors.Join(err, l.work(ctx))
		})
	})
	if err != nil {
		return answer{}, err
	}
	reply := created(o)
	err = l.db.insertKey(ctx, req, reply)
	if isDuplicate(err) {
		return l.db.known(ctx, req)
	}
	return reply, err
}
