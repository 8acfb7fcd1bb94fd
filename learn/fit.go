package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// fit holds that another body which was refused was refused because it is another one: where a create of its own with that body is refused,
// too, such as for a word that is not on a list, another member is altered, and asked about.
func fit(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	for r.Altered != nil && r.Altered.Refused() {
		body, pointer, ok := drafting.Altered(i.file)
		if !ok {
			return nil
		}
		alone, err := i.questionerWith(body)
		if err != nil {
			return err
		}
		for range 2 { // one may be declined by chance
			if answers, _ := alone.ask(ctx, "alone", 1, "[{send: {}}]"); len(answers) == 0 || !answers[0].Refused() {
				return alone.err
			}
		}
		i.file.Proof.Unfit, r.Altered = append(i.file.Proof.Unfit, pointer), nil
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
