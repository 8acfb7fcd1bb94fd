package orders

import (
	"context"
	"encoding/json"
	"fmt"
)

// replayEchoesRequestDesign fills a replay with what the request says.
//
// The record has the order's id, and the rest stands in the request that came just now: no need to
// read the order. This is so as long as a key comes with the body that it came with first. A client
// that has corrected the amount is told, under the id of the order, that it is for 9900. In the table
// it is for 1200.
func replayEchoesRequestDesign() Design {
	return Design{
		Name:     "replay-echoes-request",
		Summary:  "fills a replay with the values of the request that repeats: another body reads its own amount as the order's",
		Contract: loose(),
		Key:      requiredKey(),
		Twin:     "replay-original",
		Shows:    []string{"replay-mismatch"},
		By:       []string{"altered-after", "altered-race"},
		schema:   []string{ordersTable, keysTable},
		handler:  varied(func(_ *api, p *parts) { p.replay = echo }),
	}
}

func echo(_ context.Context, first record, req request) (answer, error) {
	var was order
	if err := json.Unmarshal(first.Answer.Body, &was); err != nil {
		return answer{}, fmt.Errorf("read the recorded answer: %w", err)
	}
	o := newOrder(req)
	o.ID, o.CreatedAt = was.ID, was.CreatedAt
	return created(o), nil
}
