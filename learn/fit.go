package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// fit holds that another body which was refused was refused because it is another one: where a create of its own with that body is refused,
// too, such as for a word that is not on a list, another member is altered, and asked about.
func fit(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	for r.Altered != nil && r.Altered.Refused() {
		refused, err := refusedAlone(ctx, i)
		if err != nil || !refused {
			return err
		}
		r.Altered = nil
		asking, err := i.questioner()
		if err != nil || !asking.alters() {
			return err
		}
		if _, _, err := askAltered(ctx, i, asking, r); err != nil {
			return err
		}
	}
	return nil
}

// fitAlone holds that of another body which has a marker of its own, and that is what makes two creates one, so that it is no other body of the
// first create to the target.
func fitAlone(ctx context.Context, i *inquiry) error {
	for {
		if refused, err := refusedAlone(ctx, i); err != nil || !refused {
			return err
		}
	}
}

// refusedAlone reports that a create of its own with the other body is refused, so that another member is altered from then on.
func refusedAlone(ctx context.Context, i *inquiry) (bool, error) {
	body, pointer, ok := drafting.Altered(i.file)
	if !ok {
		return false, nil
	}
	alone, err := i.questionerWith(body)
	if err != nil {
		return false, err
	}
	for range 2 { // one may be declined by chance
		if answers, _ := alone.ask(ctx, "alone", 1, "[{send: {}}]"); len(answers) == 0 || !answers[0].Refused() {
			return false, alone.err
		}
	}
	i.file.Proof.Unfit = append(i.file.Proof.Unfit, pointer)
	return true, nil
}
