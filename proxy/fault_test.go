package proxy_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proxy"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	micros := faults.Duration(100 * time.Microsecond)
	for name, row := range map[string]struct {
		fault     faults.Fault
		complaint string // empty: none
	}{
		"nothing":            {faults.Fault{}, "a fault is exactly one thing, this is nothing"},
		"two things":         {faults.Fault{Withhold: &faults.Withhold{}, Lose: "request"}, "this is withhold and lose"},
		"no delay":           {faults.Fault{Latency: &faults.Latency{}}, "latency: delay is missing"},
		"only jitter":        {faults.Fault{Latency: &faults.Latency{Jitter: ms(1)}}, ""},
		"negative delay":     {faults.Fault{Latency: &faults.Latency{Delay: ms(-5)}}, "latency: delay is -5ms: it must not be negative"},
		"delay too fine":     {faults.Fault{Latency: &faults.Latency{Delay: micros}}, "delay is 100µs: it must be whole milliseconds"},
		"negative jitter":    {faults.Fault{Latency: &faults.Latency{Delay: ms(5), Jitter: ms(-1)}}, "jitter is -1ms"},
		"unknown way":        {faults.Fault{Latency: &faults.Latency{Delay: ms(5), Way: "back"}}, `way is "back"`},
		"no rate":            {faults.Fault{Bandwidth: &faults.Bandwidth{}}, "bandwidth: rate is 0: it must be at least 1 KB/s"},
		"hang up at once":    {faults.Fault{HangUp: &faults.HangUp{}}, "hang-up: after is missing"},
		"negative cut":       {faults.Fault{Cut: &faults.Cut{After: -1}}, "cut: after is -1"},
		"cut twice":          {faults.Fault{Cut: &faults.Cut{After: 1, Reset: true}}, "cut: it is either a reset or"},
		"cut at once":        {faults.Fault{Cut: &faults.Cut{}}, ""},
		"lose something":     {faults.Fault{Lose: "hope"}, `lose: "hope" cannot be lost`},
		"no slow close":      {faults.Fault{SlowClose: &faults.SlowClose{}}, "slow-close: delay is missing"},
		"no slices":          {faults.Fault{Slice: &faults.Slice{}}, "slice: size is 0"},
		"wild slices":        {faults.Fault{Slice: &faults.Slice{Size: 5, Variation: 5}}, "variation is 5: it must be less than size"},
		"negative slices":    {faults.Fault{Slice: &faults.Slice{Size: 5, Variation: -5}}, "variation is -5"},
		"fine slices":        {faults.Fault{Slice: &faults.Slice{Size: 5, Variation: 4, Delay: micros}}, ""},
		"unknown type":       {toxic("wobble", "upstream", nil), `toxic: there is no type "wobble", only bandwidth, latency, limit_data, noop, reset_peer, slicer, slow_close, timeout`},
		"no stream":          {toxic("noop", "", nil), `toxic: stream is "": it must be upstream or downstream`},
		"unknown attribute":  {toxic("latency", "upstream", map[string]any{"latancy": 1}), `unknown field "latancy"`},
		"wrong attribute":    {toxic("latency", "upstream", map[string]any{"latency": "1s"}), "attributes of latency: "},
		"negative attribute": {toxic("timeout", "upstream", map[string]any{"timeout": -1}), "timeout is -1: it must not be negative"},
		"endless slices":     {toxic("slicer", "upstream", nil), "average_size is 0"},
		"endless bandwidth":  {toxic("bandwidth", "upstream", nil), "rate is 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := proxy.Check(row.fault)
			if row.complaint == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.complaint)
		})
	}
}

// Every member of a fault has words and toxics: a new one must not be forgotten.
func TestEveryFaultIsKnown(t *testing.T) {
	t.Parallel()
	members := map[string]struct {
		fault faults.Fault
		words string
	}{
		"Latency":   {faults.Fault{Latency: &faults.Latency{Delay: ms(5)}}, "latency 5ms, both ways"},
		"Bandwidth": {faults.Fault{Bandwidth: &faults.Bandwidth{Rate: 5}}, "bandwidth 5 KB/s, both ways"},
		"Withhold":  {withhold, "withhold"},
		"HangUp":    {faults.Fault{HangUp: &faults.HangUp{After: ms(2000)}}, "hang-up after 2s"},
		"Cut":       {faults.Fault{Cut: &faults.Cut{After: 7}}, "cut after 7 bytes"},
		"Lose":      {loseResponse, "lose response"},
		"SlowClose": {faults.Fault{SlowClose: &faults.SlowClose{Delay: ms(5), Way: faults.ResponseWay}}, "slow close 5ms, on the response"},
		"Slice":     {faults.Fault{Slice: &faults.Slice{Size: 5, Variation: 1, Delay: ms(1)}}, "slices of 5 ± 1 bytes, 1ms apart, both ways"},
		"Toxic":     {toxic("noop", "upstream", nil), "toxic noop upstream {}"},
	}
	for i := range reflect.TypeFor[faults.Fault]().NumField() {
		name := reflect.TypeFor[faults.Fault]().Field(i).Name
		known, ok := members[name]
		require.True(t, ok, "%s has no row in this test", name)
		require.NoError(t, proxy.Check(known.fault))
		require.Equal(t, []string{known.words}, faulty(t, "127.0.0.1:1", known.fault).Facts()[1].Faults)
	}
	require.Equal(t, "cut with a reset",
		faulty(t, "127.0.0.1:1", faults.Fault{Cut: &faults.Cut{Reset: true}}).Facts()[1].Faults[0])
	require.Equal(t, "lose request", faulty(t, "127.0.0.1:1", loseRequest).Facts()[1].Faults[0])
}
