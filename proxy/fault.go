package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

// forEver is longer than any run, and short enough for toxiproxy to count it in
// nanoseconds (its slow_close has no value that means "for ever").
const forEver = 365 * 24 * time.Hour

// Check says what is wrong with a fault, everything at once, without opening anything.
func Check(f faults.Fault) error {
	_, err := effectOf(f)
	return err
}

// effect is what a fault comes to: toxics for toxiproxy, and words for the history.
type effect struct {
	words  string
	toxics []toxic
}

// effects are what the faults of a lane come to, together.
type effects struct {
	words  []string
	toxics []toxic
}

// effectsOf translates all faults of a lane. The error has all mistakes at once.
func effectsOf(faults []faults.Fault) (effects, error) {
	var all effects
	var errs []error
	for _, f := range faults {
		e, err := effectOf(f)
		errs = append(errs, err)
		all.words = append(all.words, e.words)
		all.toxics = append(all.toxics, e.toxics...)
	}
	return all, errors.Join(errs...)
}

// facts describes a lane with these effects and without an upstream tap.
func (e effects) facts(name, place string) history.Lane {
	return history.Lane{Name: name, Faults: e.words, Delay: history.Offset(leastDelay(e.toxics)), Proxy: place}
}

// effectOf translates a fault from the user's words into toxics and plain text. It is the
// one place that knows which toxic means what. Most of the choices are measured: see the
// table in fault_table_test.go, which holds what each fault must do to client and target.
func effectOf(f faults.Fault) (effect, error) {
	named := f.Names()
	if len(named) != 1 {
		return effect{}, fmt.Errorf("a fault is exactly one thing, this is %s", orNothing(named))
	}
	var e effect
	var err error
	switch {
	case f.Latency != nil:
		e, err = latency(*f.Latency)
	case f.Bandwidth != nil:
		e, err = bandwidth(*f.Bandwidth)
	case f.Withhold != nil:
		e = withhold()
	case f.HangUp != nil:
		e, err = hangUp(*f.HangUp)
	case f.Cut != nil:
		e, err = cut(*f.Cut)
	case f.Lose != faults.LoseNothing:
		e, err = lose(f.Lose)
	case f.SlowClose != nil:
		e, err = slowClose(*f.SlowClose)
	case f.Slice != nil:
		e, err = slice(*f.Slice)
	case f.Toxic != nil:
		e, err = raw(*f.Toxic)
	default:
		err = errors.New("no toxics are known for it")
	}
	if err != nil {
		return effect{}, fmt.Errorf("%s: %w", named[0], err)
	}
	return e, nil
}

// orNothing lists what a fault says it is.
func orNothing(named []string) string {
	if len(named) == 0 {
		return "nothing"
	}
	return strings.Join(named, " and ")
}

// latency delays every chunk by delay, and a random time of up to jitter more or less.
func latency(f faults.Latency) (effect, error) {
	delay, err1 := millis("delay", f.Delay)
	jitter, err2 := millis("jitter", f.Jitter)
	var err3 error
	if f.Delay == 0 && f.Jitter == 0 {
		err3 = errors.New("delay is missing")
	}
	t := &toxics.LatencyToxic{Latency: delay, Jitter: jitter}
	words := "latency " + text(f.Delay)
	if jitter > 0 {
		words += " ± " + text(f.Jitter)
	}
	return bothWays("latency", f.Way, t, words, errors.Join(err1, err2, err3))
}

// bandwidth limits the rate, in kilobytes per second.
func bandwidth(f faults.Bandwidth) (effect, error) {
	t := &toxics.BandwidthToxic{Rate: f.Rate}
	return bothWays("bandwidth", f.Way, t, fmt.Sprintf("bandwidth %d KB/s", f.Rate), checkRate("rate", f.Rate))
}

// withhold keeps the answer from the client, and the client's leaving from the target: the
// only fault under which a target that cancels on disconnect completes its work. It needs
// all three toxics. timeout 0 swallows the answer, but would pass on that the target
// closed; the slow close behind it keeps that from the client; and the one upstream keeps
// the client's leaving from the target.
func withhold() effect {
	silence := &toxics.SlowCloseToxic{Delay: forEver.Milliseconds()}
	return effect{words: "withhold", toxics: []toxic{
		{kind: "timeout", stream: down, attributes: &toxics.TimeoutToxic{}},
		{kind: "slow_close", stream: down, attributes: silence},
		{kind: "slow_close", stream: up, attributes: silence},
	}}
}

// hangUp closes both sides after a time, so the target notices that its client has gone.
func hangUp(f faults.HangUp) (effect, error) {
	after, err := millis("after", f.After)
	if err == nil && after == 0 { // which to toxiproxy means never
		err = errors.New("after is missing: it must be at least 1ms")
	}
	t := toxic{kind: "timeout", stream: down, attributes: &toxics.TimeoutToxic{Timeout: after}}
	return effect{words: "hang-up after " + text(f.After), toxics: []toxic{t}}, err
}

// cut breaks the answer off: with a reset before its first byte, or with a close after
// some bytes.
func cut(f faults.Cut) (effect, error) {
	switch {
	case f.After < 0:
		return effect{}, fmt.Errorf("after is %d: it must not be negative", f.After)
	case f.Reset && f.After > 0:
		return effect{}, errors.New("it is either a reset or after so many bytes")
	case f.Reset:
		return effect{words: "cut with a reset", toxics: []toxic{reset(down)}}, nil
	}
	t := toxic{kind: "limit_data", stream: down, attributes: &toxics.LimitDataToxic{Bytes: f.After}}
	return effect{words: fmt.Sprintf("cut after %d bytes", f.After), toxics: []toxic{t}}, nil
}

// lose resets the connection when the request, or the answer, passes. The client sees the
// same in both cases; the target has executed the request in the second case only.
func lose(f faults.Loss) (effect, error) {
	switch f {
	case faults.LoseRequest:
		return effect{words: "lose request", toxics: []toxic{reset(up)}}, nil
	case faults.LoseResponse:
		return effect{words: "lose response", toxics: []toxic{reset(down)}}, nil
	default:
		return effect{}, fmt.Errorf("%q cannot be lost, only %s and %s", f, faults.LoseRequest, faults.LoseResponse)
	}
}

// reset is a toxic that resets at the first byte. Only a connection that is made after the
// toxic is reset; an older one gets an ordinary close, since toxiproxy sets SO_LINGER when
// the connection starts.
func reset(stream string) toxic {
	return toxic{kind: "reset_peer", stream: stream, attributes: &toxics.ResetToxic{}}
}

// slowClose passes on the end of a stream late.
func slowClose(f faults.SlowClose) (effect, error) {
	delay, err := millis("delay", f.Delay)
	if f.Delay == 0 {
		err = errors.New("delay is missing")
	}
	return bothWays("slow_close", f.Way, &toxics.SlowCloseToxic{Delay: delay}, "slow close "+text(f.Delay), err)
}

// slice cuts what passes into small pieces, some time apart.
func slice(f faults.Slice) (effect, error) {
	var errs []error
	if f.Variation < 0 {
		errs = append(errs, fmt.Errorf("variation is %d: it must not be negative", f.Variation))
	}
	if f.Delay < 0 {
		errs = append(errs, fmt.Errorf("delay is %s: it must not be negative", text(f.Delay)))
	}
	errs = append(errs, checkSlices("size", "variation", f.Size, f.Variation))
	t := &toxics.SlicerToxic{
		AverageSize:   int(f.Size),
		SizeVariation: int(f.Variation),
		Delay:         int(time.Duration(f.Delay).Microseconds()),
	}
	words := fmt.Sprintf("slices of %d ± %d bytes, %s apart", f.Size, f.Variation, text(f.Delay))
	return bothWays("slicer", f.Way, t, words, errors.Join(errs...))
}

// raw takes one of toxiproxy's own toxics, for what no fault of ours says.
func raw(f faults.Toxic) (effect, error) {
	t, err := rawToxic(f.Type, f.Stream, f.Attributes)
	if err != nil {
		return effect{}, err
	}
	attributes, err := json.Marshal(t.attributes)
	return effect{words: fmt.Sprintf("toxic %s %s %s", t.kind, t.stream, attributes), toxics: []toxic{t}}, err
}

// bothWays puts a toxic on the streams of a way and says so in the words.
func bothWays(kind string, way faults.Way, t toxics.Toxic, words string, err error) (effect, error) {
	request := toxic{kind: kind, stream: up, attributes: t}
	response := toxic{kind: kind, stream: down, attributes: t}
	switch way {
	case faults.BothWays:
		return effect{words: words + ", both ways", toxics: []toxic{request, response}}, err
	case faults.RequestWay:
		return effect{words: words + ", on the request", toxics: []toxic{request}}, err
	case faults.ResponseWay:
		return effect{words: words + ", on the response", toxics: []toxic{response}}, err
	default:
		wrong := fmt.Errorf("way is %q: it must be %s, %s or left out", way, faults.RequestWay, faults.ResponseWay)
		return effect{}, errors.Join(err, wrong)
	}
}

// millis is a time in toxiproxy's unit, which must not round a short time to none.
func millis(name string, d faults.Duration) (int64, error) {
	switch t := time.Duration(d); {
	case t < 0:
		return 0, fmt.Errorf("%s is %v: it must not be negative", name, t)
	case t%time.Millisecond != 0:
		return 0, fmt.Errorf("%s is %v: it must be whole milliseconds", name, t)
	default:
		return t.Milliseconds(), nil
	}
}

// text is a time as the words of an effect have it.
func text(d faults.Duration) string { return time.Duration(d).String() }
