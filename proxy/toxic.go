package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// always is the toxicity of every toxic: toxiproxy draws from a source that cannot be seeded, so
// chance belongs into the plan, which chooses the lane.
const always = 1

// The streams of a proxy, in toxiproxy's words.
const (
	up   = "upstream"   // from the client to the target
	down = "downstream" // from the target to the client
)

// toxic is one toxic of toxiproxy.
type toxic struct {
	kind       string
	stream     string
	attributes toxics.Toxic
}

// name is unique in a lane in which this is the i-th toxic.
func (t toxic) name(i int) string { return fmt.Sprintf("%02d-%s-%s", i, t.kind, t.stream) }

// nameOf returns the name of a toxic that toxiproxy holds.
func nameOf(t toxics.Toxic) string {
	if held, ok := t.(*toxics.ToxicWrapper); ok {
		return held.Name
	}
	return ""
}

// rawToxic makes a toxic from toxiproxy's own words. Toxiproxy itself ignores attributes that it does
// not know, which turns a slip of the pen into a toxic that does nothing.
func rawToxic(kind, stream string, attributes map[string]any) (toxic, error) {
	known := knownToxics()
	if !slices.Contains(known, kind) {
		return toxic{}, fmt.Errorf("there is no type %q, only %s", kind, strings.Join(known, ", "))
	}
	made := toxics.New(&toxics.ToxicWrapper{Type: kind})
	if stream != up && stream != down {
		return toxic{}, fmt.Errorf("stream is %q: it must be %s or %s", stream, up, down)
	}
	content, err := json.Marshal(attributes)
	if err != nil {
		return toxic{}, fmt.Errorf("attributes of %s: %w", kind, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(made); err != nil {
		return toxic{}, fmt.Errorf("attributes of %s: %w", kind, err)
	}
	return toxic{kind: kind, stream: stream, attributes: made}, checkAttributes(made)
}

// knownToxics are the types that toxiproxy has by itself. Its registry has ours too, and is not safe to read.
func knownToxics() []string {
	return []string{"bandwidth", "latency", "limit_data", "noop", "reset_peer", "slicer", "slow_close", "timeout"}
}

// checkAttributes refuses what makes toxiproxy panic, recurse for ever or spin.
func checkAttributes(t toxics.Toxic) error {
	var errs []error
	value := reflect.ValueOf(t).Elem()
	for i := range value.NumField() {
		if n := value.Field(i).Int(); n < 0 {
			name := value.Type().Field(i).Tag.Get("json")
			errs = append(errs, fmt.Errorf("%s is %d: it must not be negative", name, n))
		}
	}
	switch a := t.(type) {
	case *toxics.BandwidthToxic:
		errs = append(errs, checkRate("rate", a.Rate))
	case *toxics.SlicerToxic:
		errs = append(errs, checkSlices("average_size", "size_variation", int64(a.AverageSize), int64(a.SizeVariation)))
	}
	return errors.Join(errs...)
}

// checkRate refuses a rate of 0, by which toxiproxy would divide.
func checkRate(name string, rate int64) error {
	if rate < 1 {
		return fmt.Errorf("%s is %d: it must be at least 1 KB/s", name, rate)
	}
	return nil
}

// checkSlices refuses sizes at which toxiproxy's slicer recurses without end.
func checkSlices(sizeName, variationName string, size, variation int64) error {
	if size < 1 {
		return fmt.Errorf("%s is %d: it must be at least 1 byte", sizeName, size)
	}
	if variation >= size {
		return fmt.Errorf("%s is %d: it must be less than %s", variationName, variation, sizeName)
	}
	return nil
}

// allowance is how many bytes of a stream its toxics take before they close it or swallow the rest,
// negative for any number. More would be lost in any case, and jam the lane: see conn. A byte is the
// least that makes toxiproxy close; a timeout needs none, and would begin anew at every byte.
func allowance(lane []toxic, stream string) int64 {
	for _, t := range lane {
		if t.stream != stream {
			continue
		}
		switch a := t.attributes.(type) {
		case *toxics.LimitDataToxic:
			return max(1, a.Bytes)
		case *toxics.ResetToxic:
			return 1
		case *toxics.TimeoutToxic:
			return 0
		}
	}
	return -1
}

// leastDelay is the least time that latency adds to an exchange.
func leastDelay(lane []toxic) time.Duration {
	var sum time.Duration
	for _, t := range lane {
		if a, ok := t.attributes.(*toxics.LatencyToxic); ok {
			sum += time.Duration(max(0, a.Latency-a.Jitter)) * time.Millisecond
		}
	}
	return sum
}
