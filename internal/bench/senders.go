package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// The senders.
const (
	ours    = "doubletap"
	oursTwo = "doubletap HTTP/2"
	barrier = "barrier"
	kept    = "kept barrier"
	engine  = "vegeta"
	k6      = "k6"
	k6Far   = "k6, relayed"
	hey     = "hey"
)

// others are the senders that doubletap is held against.
func others() []string { return []string{barrier, kept, engine, k6, hey} }

// longest bounds a request of any sender.
const longest = time.Minute

// body is that of every request.
const body = `{"amount":1200,"note":"dtxt4xkwd4eoyiq7ns"}`

// job is what a sender is asked to send: bursts of so many members each, to /burst/1 and so on.
type job struct {
	route   *route
	bursts  int
	members int
	atOnce  int    // bursts at a time
	scratch string // folder for files
	apart   bool   // the target is a process of its own
	http2   bool   // doubletap sends in HTTP/2
	lasting bool   // doubletap keeps its connections, as in a hunt
}

// asked is how many requests a job comes to.
func (j job) asked() int { return j.bursts * j.members }

// burstSender sends a job and returns when all of its answers are there.
type burstSender func(context.Context, job) error

// sender is a way to send bursts.
type sender struct {
	name  string
	burst burstSender
	plain burstSender // one request after the other, connections used as the sender does
}

// namesOf lists the names of senders in their order.
func namesOf(senders []sender) []string {
	var names []string
	for _, s := range senders {
		names = append(names, s.name)
	}
	return names
}

// sendersFor returns the senders of a run, doubletap first, and installs those that are processes.
func sendersFor(ctx context.Context, s settings, progress io.Writer) ([]sender, error) {
	all := []sender{
		{name: ours, burst: burstOfOurs, plain: plainOfOurs},
		{name: oursTwo, burst: inHTTP2(burstOfOurs), plain: inHTTP2(plainOfOurs)},
		{name: barrier, burst: burstOfBarrier, plain: burstOfBarrier},
		{name: kept, burst: burstOfKept, plain: burstOfKept},
		{name: engine, burst: burstOfVegeta, plain: plainOfVegeta},
	}
	for _, t := range tools() {
		if slices.Contains(s.without, t.name) {
			continue
		}
		program, err := t.install(ctx, progress)
		if err != nil {
			return nil, fmt.Errorf("%w; -without %s leaves it out", err, t.name)
		}
		all = append(all, t.senders(program)...)
	}
	return slices.DeleteFunc(all, func(one sender) bool { return slices.Contains(s.without, one.name) }), nil
}

// each sends every burst of a job, several at a time, until one fails.
func (j job) each(ctx context.Context, send func(ctx context.Context, id int) error) error {
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	var next atomic.Int64
	var sending sync.WaitGroup
	for range j.atOnce {
		sending.Go(func() {
			for id := int(next.Add(1)); id <= j.bursts && ctx.Err() == nil; id = int(next.Add(1)) {
				if err := send(ctx, id); err != nil {
					halt(err)
				}
			}
		})
	}
	sending.Wait()
	return context.Cause(ctx)
}

// warm dials as many connections as a burst has members: what is compared is the release.
func (j job) warm(ctx context.Context) (chan net.Conn, error) {
	conns := make(chan net.Conn, j.members)
	for range j.members {
		conn, err := j.route.dial(ctx)
		if err != nil {
			closeAll(conns)
			return nil, err
		}
		conns <- conn
	}
	return conns, nil
}

// closeAll closes the connections that no request has taken.
func closeAll(conns chan net.Conn) {
	for len(conns) > 0 {
		(<-conns).Close()
	}
}

// burstOfOurs sends each burst as a scenario's step does in a hunt.
func burstOfOurs(ctx context.Context, j job) error {
	j.lasting = true
	return j.drive(ctx, scenarios.Step{Burst: &scenarios.Burst{Copies: j.members, Send: j.plainSend()}})
}

// plainOfOurs sends one request for each intent.
func plainOfOurs(ctx context.Context, j job) error { return j.drive(ctx, j.plainStep()) }

// inHTTP2 is a sender of ours that speaks HTTP/2.
func inHTTP2(send burstSender) burstSender {
	return func(ctx context.Context, j job) error {
		j.http2 = true
		return send(ctx, j)
	}
}

// plainStep is a step that sends one request.
func (j job) plainStep() scenarios.Step {
	send := j.plainSend()
	return scenarios.Step{Send: &send}
}

// plainSend is a request on the job's lane.
func (j job) plainSend() scenarios.Send {
	return scenarios.Send{Lane: j.route.lane, Timeout: scenarios.Span{Fixed: longest}}
}

// drive lets the driver take one step for each burst, with its history in a real file.
func (j job) drive(ctx context.Context, step scenarios.Step) error {
	file, err := os.CreateTemp(j.scratch, "history")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	return driver.Send(ctx, j.config(step, file))
}

// config is that of a sender of one step for each burst.
func (j job) config(step scenarios.Step, out io.Writer) driver.Config {
	s := scenarios.Scenario{Name: "bench", Intents: j.bursts, Concurrency: j.atOnce, Steps: []scenarios.Step{step}}
	target := targets.Target{Name: "bench", BaseURL: "http://bench.test"} // only the route leads there
	if j.http2 {
		target.Protocol = targets.HTTP2
	}
	return driver.Config{
		Workload: driver.Workload{
			Target: target,
			Operations: []driver.Operation{{Name: "create", Operation: targets.Operation{
				Request: targets.Request{
					Method: http.MethodPost, Path: "/burst/{{.Intent.Number}}",
					Body: map[string]any{"note": "{{.Intent.Marker}}", "amount": 1200},
				},
				Key: targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key"}},
			}}},
			Plan: scenarios.NewPlan(s, 7), Names: driver.Names{Seed: 7, Run: "r1", Scenario: s.Name}, Base: time.Now(),
		},
		Dialers: []driver.Dialer{j.route.asDriver}, RealTime: true, Lasting: j.lasting, Record: history.NewWriter(out),
	}
}

// burstOfVegeta is one attack for each burst, with a worker and a warm connection for each member.
func burstOfVegeta(ctx context.Context, j job) error {
	return j.each(ctx, func(ctx context.Context, id int) error {
		conns, err := j.warm(ctx)
		if err != nil {
			return err
		}
		defer closeAll(conns)
		transport := &http.Transport{DisableKeepAlives: true, DialContext: taking(conns)}
		return attack(transport, id, j.members, j.members)
	})
}

// taking gives out connections that are there already.
func taking(conns <-chan net.Conn) dialer {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case conn := <-conns:
			return conn, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// plainOfVegeta keeps its connection, as vegeta does unless it is told otherwise.
func plainOfVegeta(_ context.Context, j job) error {
	transport := &http.Transport{DialContext: j.dialing}
	defer transport.CloseIdleConnections()
	_ = attack(transport, 1, j.bursts, 1) // that some break is the point
	return nil
}

// dialing is the route in the form that net/http takes.
func (j job) dialing(ctx context.Context, _, _ string) (net.Conn, error) { return j.route.dial(ctx) }

// attack sends requests of one burst with vegeta and returns the first error of any.
func attack(transport *http.Transport, id, requests, workers int) error {
	attacker := vegeta.NewAttacker(
		vegeta.Client(&http.Client{Transport: transport, Timeout: longest}),
		vegeta.Workers(uint64(workers)), vegeta.MaxWorkers(uint64(workers)),
	)
	target := vegeta.Target{
		Method: http.MethodPost, URL: fmt.Sprintf("http://bench.test/burst/%d", id), Body: []byte(body),
		Header: http.Header{"Idempotency-Key": {key(id)}, "Content-Type": {"application/json"}},
	}
	var first error
	for result := range attacker.Attack(vegeta.NewStaticTargeter(target), hits(requests), 0, "") {
		if result.Error != "" && first == nil {
			first = fmt.Errorf("attack with vegeta: %s", result.Error)
		}
	}
	return first
}

// key is the idempotency key of a burst, the same in all its requests.
func key(id int) string { return fmt.Sprintf("bench-%d", id) }

// hits is a vegeta pacer that stops after so many.
type hits uint64

// Pace says that the next hit is due at once.
func (h hits) Pace(_ time.Duration, n uint64) (time.Duration, bool) { return 0, n >= uint64(h) }

// Rate is part of vegeta's interface; hits that are all due at once have none.
func (h hits) Rate(time.Duration) float64 { return 0 }

// burstOfBarrier lets goroutines with warm connections go when all of them stand ready.
func burstOfBarrier(ctx context.Context, j job) error {
	return j.each(ctx, func(ctx context.Context, id int) error {
		conns, err := j.warm(ctx)
		if err != nil {
			return err
		}
		message := rawRequest(id, "close")
		start := make(chan struct{})
		var ready, sending sync.WaitGroup
		ready.Add(j.members)
		for range j.members {
			sending.Go(func() {
				conn := <-conns
				defer conn.Close()
				ready.Done()
				<-start
				exchange(conn, bufio.NewReader(conn), message)
			})
		}
		ready.Wait()
		close(start)
		sending.Wait()
		return nil
	})
}

// burstOfKept is burstOfBarrier with goroutines and connections that stay for all bursts: the most that passes through a lane. A
// connection that breaks is dialled again.
func burstOfKept(ctx context.Context, j job) error {
	var members []*keeper
	for range j.members * j.atOnce {
		members = append(members, &keeper{route: j.route, turn: make(chan func())})
	}
	var staying sync.WaitGroup
	defer staying.Wait()
	for _, k := range members {
		staying.Go(k.stay)
		defer close(k.turn)
	}
	free := make(chan []*keeper, j.atOnce)
	for some := range slices.Chunk(members, j.members) {
		free <- some
	}
	return j.each(ctx, func(ctx context.Context, id int) error {
		burst := <-free
		defer func() { free <- burst }()
		message := rawRequest(id, "keep-alive")
		start := make(chan struct{})
		var ready, sending sync.WaitGroup
		var failed atomic.Pointer[error]
		ready.Add(len(burst))
		sending.Add(len(burst))
		for _, k := range burst {
			k.turn <- func() {
				defer sending.Done()
				err := k.connect(ctx)
				ready.Done()
				<-start
				if err == nil && !exchange(k.conn, k.answers, message) {
					k.close()
				}
				if err != nil {
					failed.Store(&err)
				}
			}
		}
		ready.Wait()
		close(start)
		sending.Wait()
		if err := failed.Load(); err != nil {
			return *err
		}
		return nil
	})
}

// keeper is a goroutine with a connection, both of which stay from burst to burst.
type keeper struct {
	route   *route
	turn    chan func()
	conn    net.Conn // nil: there is none
	answers *bufio.Reader
}

// stay does what it is told until there are no more turns.
func (k *keeper) stay() {
	defer k.close()
	for work := range k.turn {
		work()
	}
}

// connect dials, if there is no connection.
func (k *keeper) connect(ctx context.Context) (err error) {
	if k.conn != nil {
		return nil
	}
	if k.conn, err = k.route.dial(ctx); err == nil {
		k.answers = bufio.NewReader(k.conn)
	}
	return err
}

// close closes the connection.
func (k *keeper) close() {
	if k.conn != nil {
		_ = k.conn.Close()
		k.conn = nil
	}
}

// rawRequest is a request of a burst as it stands on the wire.
func rawRequest(id int, connection string) string {
	return fmt.Sprintf("POST /burst/%d HTTP/1.1\r\nHost: bench.test\r\nConnection: %s\r\nIdempotency-Key: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", id, connection, key(id), len(body), body)
}

// exchange sends a request and reads its answer, and reports whether that came. What breaks is seen at the target, which counts.
func exchange(conn net.Conn, answers *bufio.Reader, message string) bool {
	_ = conn.SetDeadline(time.Now().Add(longest))
	if _, err := io.Copy(conn, strings.NewReader(message)); err != nil {
		return false
	}
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil
}
