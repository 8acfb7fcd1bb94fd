package driver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// long is longer than anything that is waited for should take.
const long = time.Minute

// TestMain names a proxy that does not exist, for all tests: nothing here may ask the environment
// for the way.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		_ = os.Setenv(name, "http://127.0.0.1:1")
	}
	goleak.VerifyTestMain(m)
}

// rig is a sender with a dialer to some address, and its history in memory. The base URL names a host that does
// not exist: only the dialer leads to the target. The fields of its config may be set before its first phase.
type rig struct {
	driver.Config
	file     *file
	sender   *driver.Sender   // nil before the first phase
	prepared *driver.Prepared // nil before SetUp
	sent     *driver.Sent     // nil before Drive
}

// made returns the sender, which has the config as it was at the first call.
func (r *rig) made() *driver.Sender {
	if r.sender == nil {
		r.sender = driver.New(r.Config)
	}
	return r.sender
}

// SetUp sets up as a sender does.
func (r *rig) SetUp(ctx context.Context) (err error) {
	r.prepared, err = r.made().SetUp(ctx)
	return err
}

// Drive sends the plan, after setting up if that was not done.
func (r *rig) Drive(ctx context.Context) (err error) {
	if r.prepared == nil {
		if err := r.SetUp(ctx); err != nil {
			return err
		}
	}
	r.sent, err = r.prepared.Send(ctx)
	return err
}

// Probe sends the final retries.
func (r *rig) Probe(ctx context.Context, p driver.Probing, keyless bool, settled func(history.Attempt) bool) error {
	return r.sent.Probe(ctx, p, keyless, settled)
}

// Follow asks the status resources.
func (r *rig) Follow(ctx context.Context) error { return r.sent.Follow(ctx) }

// CleanUp sends what comes last.
func (r *rig) CleanUp(ctx context.Context) { r.made().CleanUp(ctx) }

// RecordPassages records what the taps have seen.
func (r *rig) RecordPassages() error { return r.made().RecordPassages() }

// Suspicious is that of the sender.
func (r *rig) Suspicious() (left time.Time, broke bool) { return r.made().Suspicious() }

func newRig(t testing.TB, address string, steps ...scenarios.Step) *rig {
	t.Helper()
	s := scenarios.Scenario{Name: "trial", Intents: 1, Concurrency: 1, Steps: steps}
	return newRigFor(t, address, s)
}

func newRigFor(t testing.TB, address string, s scenarios.Scenario) *rig {
	t.Helper()
	f := &file{}
	record := history.NewWriter(f)
	require.NoError(t, record.Run(history.Run{Format: history.Format, ID: "r1", Scenario: s.Name}))
	return &rig{file: f, Config: driver.Config{
		Workload: driver.Workload{
			Target:     targets.Target{Name: "orders", BaseURL: "http://orders.test"},
			Operations: []driver.Operation{{Name: "create", Operation: operation()}},
			Principals: []driver.Principal{{Name: "alice", Values: targets.Principal{"Token": "sesame-open-9"}}},
			Plan:       scenarios.NewPlan(s, 7), Names: driver.Names{Seed: 7, Run: "r1", Scenario: s.Name}, Base: time.Now(),
		},
		Dialers: []driver.Dialer{dialerTo(address)}, Record: record,
	}}
}

func operation() targets.Operation {
	return targets.Operation{
		Request: targets.Request{
			Method: "POST", Path: "/orders?x=1",
			Header: map[string]string{"Authorization": "Bearer {{.Principal.Token}}"},
			Body:   map[string]any{"note": "{{.Intent.Marker}}", "amount": 1200},
		},
		Key:   targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key"}},
		Alter: map[string]any{"amount": 9900}, Invalid: map[string]any{"amount": -1},
	}
}

func dialerTo(address string) driver.Dialer {
	return func(ctx context.Context, _ string) (net.Conn, driver.Tap, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		return conn, nil, err
	}
}

// seenAs is a passage of a connection on no lane, which can hold nothing.
type seenAs func() history.Passage

func (s seenAs) Facts() history.Passage                                      { return s() }
func (seenAs) LeaveAfter(time.Duration)                                      {}
func (seenAs) Over() bool                                                    { return true }
func (seenAs) Hold(int64, func(func()), func(), func() <-chan struct{}) bool { return false }

// drive sends the whole plan and returns what is on record of it.
func (r *rig) drive(t testing.TB) *history.History {
	t.Helper()
	require.NoError(t, r.Drive(t.Context()))
	return r.history(t)
}

func (r *rig) history(t testing.TB) *history.History {
	t.Helper()
	h, err := history.Read(bytes.NewReader(r.file.bytes()))
	require.NoError(t, err)
	for _, a := range h.Attempts {
		require.NotZero(t, a.End, "attempt %s began and has no end", a.ID)
	}
	return h
}

// only drives a plan of one attempt and returns it.
func (r *rig) only(t testing.TB) history.Attempt {
	t.Helper()
	attempts := r.drive(t).Attempts
	require.Len(t, attempts, 1)
	return attempts[0]
}

// lines returns the IDs on the history's lines of one kind.
func (r *rig) lines(t testing.TB, kind string) []string {
	t.Helper()
	var ids []string
	for line := range bytes.Lines(r.file.bytes()) {
		var record map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(line, &record))
		if record[kind] != nil {
			var a struct{ ID string }
			require.NoError(t, json.Unmarshal(record[kind], &a))
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// file is a history in memory. It takes so many lines and then fails; 0 is no limit.
type file struct {
	mu    sync.Mutex
	text  bytes.Buffer
	limit int
	lines int
}

var errFull = errors.New("no space left")

func (f *file) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.limit > 0 && f.lines >= f.limit {
		return 0, errFull
	}
	f.lines++
	return f.text.Write(p)
}

func (f *file) bytes() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.Clone(f.text.Bytes())
}

func fixed(d time.Duration) scenarios.Span { return scenarios.Span{Fixed: d} }

// plain is a request on the clean lane from a client with all the time in the world.
func plain() scenarios.Send {
	return scenarios.Send{Lane: scenarios.Clean, Timeout: fixed(long)}
}

func send() scenarios.Step {
	s := plain()
	return scenarios.Step{Send: &s}
}

func sendWithin(d time.Duration) scenarios.Step {
	return scenarios.Step{Send: &scenarios.Send{Lane: scenarios.Clean, Timeout: fixed(d)}}
}

func burst(copies int) scenarios.Step {
	return scenarios.Step{Burst: &scenarios.Burst{Copies: copies, Send: plain()}}
}

func tabs(count int, key scenarios.KeyChoice) scenarios.Step {
	tab := scenarios.Tab{Count: count, Send: plain()}
	tab.Key = key
	return scenarios.Step{Tabs: []scenarios.Tab{tab}}
}

// within returns what comes out of a channel, and fails where nothing does.
func within[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(long):
		require.FailNow(t, "waited in vain for "+what)
		panic("unreachable")
	}
}

// begin drives in the background; the channel gets what Drive returns.
func (r *rig) begin(ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- r.Drive(ctx) }()
	return ended
}
