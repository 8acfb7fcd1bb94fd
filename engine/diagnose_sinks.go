package engine

import (
	"errors"
	"fmt"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/sut"
)

// diagnoseSeen says why a plain create was not seen at a sink as the file says, or why that may be a defect. A sink that sees
// nothing proves nothing.
func (c create) diagnoseSeen(h *history.History, marker string) (doubt string, err error) {
	for _, i := range h.Incidents {
		if i.Kind == history.SinkBehind {
			return "", runerror.Environment(errors.New(i.Text))
		}
	}
	terms := c.session.System.Terms()
	for _, fx := range checker.Watched(terms, c.operation.Judged()) {
		got := checker.Seen(terms, h, fx, marker)
		switch {
		case got == fx.Each():
		case got > 0:
			doubt = fmt.Sprintf("of one plain create of the pilot %s the sink %s, and operations.%s.effects of %s says %d of %q",
				english.Plural(got, "message reached", "messages reached"), fx.Seen, c.operation.Name, c.session.System.Name, fx.Each(), fx.Name)
		case checker.KnownByKey(terms, h, fx, marker):
			doubt = fmt.Sprintf("a plain create of the pilot asked the sink %s for %q with a key that an earlier create had used: the service takes it for that one, and does nothing", fx.Seen, fx.Name)
		default:
			return "", runerror.Configf("%s", c.unseen(h, fx))
		}
	}
	return doubt, nil
}

// unseen says why nothing of an effect was seen.
func (c create) unseen(h *history.History, fx contract.Effect) string {
	var came []history.Message
	for _, m := range h.Messages {
		if m.Sink == fx.Seen {
			came = append(came, m)
		}
	}
	place := sut.ShownSink(c.session.System, fx.Seen)
	effect := fmt.Sprintf("effect %q of operations.%s of %s", fx.Name, c.operation.Name, c.session.System.Name)
	if followed := c.session.System.Target.Sinks[fx.Seen].Followed(); len(came) == 0 && followed {
		return fmt.Sprintf("a plain create was acknowledged, and nothing was published that the sink %s sees at %s, where the %s is to be seen: the target publishes elsewhere, or it is slower than effects.within says", fx.Seen, place, effect)
	}
	if len(came) == 0 {
		return fmt.Sprintf("a plain create was acknowledged, and nothing reached the sink %s at %s, where the %s is to be seen: the target does not use that address (for a process, {{.Sink.%s.URL}} in env or command), or it is slower than effects.within says",
			fx.Seen, place, effect, fx.Seen)
	}
	// Something came. The first message shows the user what a line of the target file has to fit.
	first := came[0]
	what := first.What()
	if first.Status != 0 {
		what += fmt.Sprintf(", answered %d", first.Status)
	}
	if first.Error != "" {
		what = first.Error
	}
	for _, m := range came {
		if len(m.Names) > 0 {
			return fmt.Sprintf("a plain create was acknowledged, and %s the sink %s, but none that is the %s: the first is %s; compare effects.where, and the answers of the sink",
				english.Plural(len(came), "message reached", "messages reached"), fx.Seen, effect, what)
		}
	}
	if first.Intent != "" {
		return fmt.Sprintf("a plain create was acknowledged, and %s the sink %s, where the %s is to be seen, but for what the create is not known by: the field that sinks.%s declares (intent) says %q, which is neither its marker, its reference, its key, the identity of its row (rows.identity) nor that of its answer (identity)",
			english.Plural(len(came), "message reached", "messages reached"), fx.Seen, effect, fx.Seen, first.Intent)
	}
	return fmt.Sprintf("a plain create was acknowledged, and %s the sink %s without its marker, so that the %s cannot be counted for it: the first is %s; the target has to send on a text of the request, which carries {{.Intent.Marker}}, or sinks.%s to say where its own id for it stands (intent)",
		english.Plural(len(came), "message reached", "messages reached"), fx.Seen, effect, what, fx.Seen)
}
