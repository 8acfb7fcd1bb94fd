package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

func (d *doctor) openLinks(ctx context.Context) error {
	return d.subject.openLinks(ctx, d.options.toxiproxy)
}

// links says what passes the links inside the target for a plain create.
func (d *doctor) links() {
	for _, name := range slices.Sorted(maps.Keys(d.subject.target.Links)) {
		listen := d.subject.wires[name].Address()
		if n := d.stage.moments[name]; n > 0 {
			d.say(well, "link", fmt.Sprintf("%s, at %s: %s pass for a plain create", name, listen, plural(n, "question or answer", "questions and answers")))
			continue
		}
		d.say(warning, "link", fmt.Sprintf("nothing passes %s, at %s, for a plain create", name, listen), "let the target use this address, or leave the link out")
	}
}
