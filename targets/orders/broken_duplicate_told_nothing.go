package orders

import (
	"context"
	"net/http"
)

// duplicateToldNothing lets a unique index decide, and answers a duplicate with what its insert returned: nothing.
//
// "Insert, ignore the conflict, return the row" gives no row for a duplicate. The ORM makes that null, the framework
// makes null a body and 200 a status, and the client of a retry has a success without an order in its hands. The
// contract knows one success, 201, so that a check which looks at the declared answers only sees nothing here.
func duplicateToldNothingDesign() Design {
	promise := exactReplay()
	promise.Ack.Statuses = []int{http.StatusCreated}
	return Design{
		Name:     "duplicate-told-nothing",
		Summary:  "answers a duplicate with 200 and null, where its contract knows 201 only",
		Contract: promise,
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"undeclared-answer"},
		By:       []string{"sequential-replay", "burst-same-key"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = tellNothing }),
	}
}

func tellNothing(_ context.Context, first record, req request) (answer, error) {
	if first.Fingerprint != req.Fingerprint {
		return keyReused(), nil
	}
	return jsonAnswer(http.StatusOK, nil), nil
}
