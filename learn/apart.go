package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// apart repeats a create when another one came between: an answer with a balance, a stock or a count tells what holds now, and is not the
// same again, although it was as long as nothing else was created. Where creates add to one row, the other one adds to it, too.
func apart(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	if r.Rows != 1 || !r.Again.Done() {
		return nil
	}
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	if r.Added {
		if answers, _ := asking.done(ctx, "apart", "[{send: {}}, {send: {key: fresh}}, {send: {}}]"); len(answers) == 3 && answers[2].Done() {
			r.Apart = []drafting.Answer{answers[0], answers[2]}
		}
		return asking.err
	}
	asking.send = driver.InTurn
	const first, again = 0, 2 // of two intents
	answers, markers := asking.ask(ctx, "apart", 2, "[{send: {}}, {send: {}}]")
	if len(answers) == 4 && answers[first].Done() && answers[again].Done() && answers[first+1].Done() {
		r.Apart = []drafting.Answer{answers[first], answers[again]}
		if drafting.SaidInWords(i.file) && i.made(ctx, markers[first]) == 1 {
			r.ApartRow = i.row
		}
	}
	return asking.err
}
