package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// Lead is a run that is shared, as its coordinator sees it. [Begin] makes one. It is not safe for concurrent use.
type Lead struct {
	link   *link
	run    Run
	wait   time.Duration
	tell   func(Event)
	shards map[int]result
	seen   map[string]*sighting // by worker
	stop   func()
}

// sighting is when a worker was heard of last, and what it said then.
type sighting struct {
	worker
	at time.Time
}

// Event is something that the coordinator or a worker sees.
type Event struct {
	Kind    EventKind
	Worker  string
	Shard   int
	Attempt int
	Took    time.Duration
	Why     string
}

// EventKind is the kind of an event.
type EventKind int

// The kinds of events. A shard is Begun, and then is In, or begins once more. What ends a worker that has a shard is seen only when
// another one begins it.
const (
	Begun   EventKind = iota // a worker has begun a shard
	In                       // what a shard left is here
	GivenUp                  // no worker came to the end of a shard
	Joined                   // a worker is there
	Left                     // a worker has left, for a reason
	Alone                    // no worker is there
	Stored                   // to the worker: its shard is in
	Beaten                   // to the worker: another one came first with its shard
)

// LeadOptions are what a coordinator asks for.
type LeadOptions struct {
	Run  Run           // ID, Tool, Target, Shards and Lease
	Task []byte        // for workers, of any size
	Wait time.Duration // while no worker is there; after that, the run is over
	Tell func(Event)   // from one goroutine
}

// Begin puts a run where workers find it. The error is a config error where another run has the place.
func Begin(ctx context.Context, p Place, o LeadOptions) (*Lead, error) {
	l, err := connect(p)
	if err != nil {
		return nil, err
	}
	lead := &Lead{link: l, run: o.Run, wait: o.Wait, tell: o.Tell, shards: map[int]result{}, seen: map[string]*sighting{}, stop: func() {}}
	lead.run.Host, _ = os.Hostname()
	mine, err := lead.open(ctx, o.Task)
	switch {
	case err == nil:
		return lead, nil
	case mine:
		err = errors.Join(err, l.remove())
	}
	l.close()
	return nil, err
}

// open makes all that the run needs on the server. Mine says whether the place is ours now.
func (l *Lead) open(ctx context.Context, task []byte) (mine bool, err error) {
	if err := l.link.vacate(); err != nil {
		return false, err
	}
	p, js := l.link.place, l.link.js
	kv, err := js.CreateKeyValue(&nats.KeyValueConfig{Bucket: p.bucket(), Description: "a run of doubletap", TTL: keepFor})
	if err == nil {
		_, err = kv.Create(runKey, text(l.run))
	}
	if errors.Is(err, nats.ErrKeyExists) {
		return false, runerror.Configf("another run has begun at %s at the same time", p)
	}
	if err != nil {
		return true, l.link.failed("begin a run", err)
	}
	objects, err := js.CreateObjectStore(&nats.ObjectStoreConfig{Bucket: p.bucket(), TTL: keepFor})
	if err == nil {
		_, err = objects.PutBytes(taskName, task)
	}
	if err == nil {
		_, err = js.AddStream(&nats.StreamConfig{Name: p.stream(), Subjects: []string{p.subject()}, Retention: nats.WorkQueuePolicy, MaxAge: keepFor})
	}
	if err == nil {
		_, err = js.AddConsumer(p.stream(), &nats.ConsumerConfig{Durable: consumerName, AckPolicy: nats.AckExplicitPolicy, AckWait: l.run.Lease, MaxDeliver: -1})
	}
	for n := 1; n <= l.run.Shards && err == nil; n++ {
		_, err = js.Publish(p.subject(), text(order{l.run.ID, n}), nats.MsgId(strconv.Itoa(n)))
	}
	if err != nil {
		return true, l.link.failed("begin a run", err)
	}
	l.run.Open = true
	if err := l.beat(kv); err != nil {
		return true, l.link.failed("begin a run", err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		every(ctx, beatEvery, func() { _ = l.beat(kv) }) // workers wait as long as the server may be away
	}()
	l.stop = func() { stop(); <-beating }
	return true, nil
}

// beat says that the coordinator is there, and where the run stands.
func (l *Lead) beat(kv nats.KeyValue) error {
	_, err := kv.Put(runKey, text(l.run))
	return err
}

// every does something again and again until the context ends.
func every(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do()
		}
	}
}

// vacate removes what a coordinator has left in a place that was killed. One that lives keeps its place.
func (l *link) vacate() error {
	age, run, err := l.age()
	switch {
	case err != nil:
		return err
	case age < deadAfter:
		return runerror.Configf("%s has a run already, %s of %s: wait for its end, or take another name. If it was killed, its place is free in %s",
			l.place, run.ID, run.Host, (deadAfter - age).Round(time.Second))
	default:
		return l.remove()
	}
}

// age is how long ago the coordinator of a place was heard of, by the clock of the server; deadAfter: there is none.
func (l *link) age() (time.Duration, Run, error) {
	var probe nats.KeyValueEntry
	kv, err := l.js.KeyValue(l.place.bucket())
	var entry nats.KeyValueEntry
	if err == nil {
		entry, err = kv.Get(runKey)
	}
	if err == nil {
		_, err = kv.Put(probeKey, nil)
	}
	if err == nil {
		probe, err = kv.Get(probeKey)
	}
	if gone(err) {
		return deadAfter, Run{}, nil
	}
	if err != nil {
		return 0, Run{}, l.failed("ask for a run", err)
	}
	run, err := read[Run](entry)
	if err != nil {
		return deadAfter, run, nil
	}
	return probe.Created().Sub(entry.Created()), run, nil
}

// Collect waits until the result of every shard is in, and unpacks each into a directory below the given one. It returns the
// directories. An error says why not all are there: the context ended, no worker came, or something failed.
func (l *Lead) Collect(ctx context.Context, into string) ([]string, error) {
	kv, err := l.link.js.KeyValue(l.link.place.bucket())
	if err != nil {
		return nil, l.link.failed("wait for shards", err)
	}
	watcher, err := kv.WatchAll()
	if err != nil {
		return nil, l.link.failed("wait for shards", err)
	}
	defer watcher.Stop()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	dirs := map[int]string{}
	alone := time.Now() // since when no worker is there
	said := false
	for len(l.shards) < l.run.Shards {
		select {
		case <-ctx.Done():
			return inOrder(dirs), context.Cause(ctx)
		case entry, open := <-watcher.Updates():
			if !open {
				return inOrder(dirs), l.link.failed("wait for shards", errors.New("the server has ended the watch"))
			}
			if entry == nil { // all that was there was told
				continue
			}
			n, isShard := shardOf(entry.Key())
			if !isShard {
				l.hear(entry)
				continue
			}
			dir, err := l.takeIn(ctx, n, entry, into)
			if err != nil {
				return inOrder(dirs), err
			}
			if dir != "" {
				dirs[n] = dir
			}
		case now := <-ticker.C:
			if l.alive(now) {
				alone, said = now, false
				continue
			}
			if !said && now.Sub(alone) > aloneAfter {
				l.tell(Event{Kind: Alone})
				said = true
			}
			if now.Sub(alone) > l.wait {
				return inOrder(dirs), runerror.Environment(fmt.Errorf("no worker was at %s for %s: %d of %d shards are in", l.link.place, l.wait, len(dirs), l.run.Shards))
			}
		}
	}
	return inOrder(dirs), nil
}

// takeIn takes what one worker says of a shard, and fetches what it has brought in. It returns the
// shard's directory; empty: nothing came of it. A second result of a shard, and one of another run,
// are passed over. What cannot be read is its worker's fault, and the others go on: that is no error.
func (l *Lead) takeIn(ctx context.Context, n int, entry nats.KeyValueEntry, into string) (string, error) {
	came, err := read[result](entry)
	if _, twice := l.shards[n]; twice || err != nil || came.Run != l.run.ID || n < 1 || n > l.run.Shards {
		return "", nil
	}
	l.shards[n] = came
	if came.Object == "" {
		l.tell(Event{Kind: GivenUp, Shard: n, Why: came.GivenUp})
		return "", nil
	}
	dir := filepath.Join(into, strconv.Itoa(n))
	err = l.fetch(ctx, came.Object, dir)
	if _, never := errors.AsType[unfit](err); never {
		l.tell(Event{Kind: GivenUp, Shard: n, Why: fmt.Sprintf("what %s brought in cannot be read: %v", came.Worker, err)})
		return "", nil
	}
	if err != nil {
		return "", l.link.failed(fmt.Sprintf("fetch shard %d of %s", n, came.Worker), err)
	}
	l.tell(Event{Kind: In, Shard: n, Worker: came.Worker, Attempt: came.Attempt, Took: came.Took})
	return dir, nil
}

// inOrder are the directories by the numbers of their shards.
func inOrder(dirs map[int]string) []string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(dirs)) {
		all = append(all, dirs[n])
	}
	return all
}

// hear takes in what a worker says of itself. What a worker of another run says is passed over: it may have been there
// before.
func (l *Lead) hear(entry nats.KeyValueEntry) {
	w, err := read[worker](entry)
	name, is := cutWorker(entry.Key())
	if !is || err != nil || w.Run != "" && w.Run != l.run.ID {
		return
	}
	was := l.seen[name]
	if was == nil {
		was = &sighting{}
		l.seen[name] = was
		if !w.Left {
			l.tell(Event{Kind: Joined, Worker: name})
		}
	}
	switch {
	case w.Left && !was.Left && w.Why != "":
		l.tell(Event{Kind: Left, Worker: name, Why: w.Why})
	case w.Shard > 0 && (w.Shard != was.Shard || w.Attempt != was.Attempt):
		l.tell(Event{Kind: Begun, Worker: name, Shard: w.Shard, Attempt: w.Attempt})
		for other, lost := range l.seen {
			if other != name && lost.Shard == w.Shard && lost.Attempt < w.Attempt {
				lost.Left = true // it has been silent; what it says yet changes that
			}
		}
	}
	was.worker, was.at = w, time.Now()
}

// alive reports whether a worker is there. A worker that plays speaks several times in that long, so that a few
// words may get lost.
func (l *Lead) alive(now time.Time) bool {
	for _, w := range l.seen {
		if !w.Left && now.Sub(w.at) < 2*max(l.run.Lease, beatEvery) {
			return true
		}
	}
	return false
}

// fetch unpacks an object into a new directory.
func (l *Lead) fetch(ctx context.Context, object, dir string) error {
	return insist(ctx, func() error {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		objects, err := l.link.js.ObjectStore(l.link.place.bucket())
		if err != nil {
			return err
		}
		got, err := objects.Get(object, nats.Context(ctx))
		if err != nil {
			return err
		}
		defer got.Close()
		err = unpack(got, dir, mostUnpacked)
		if _, never := errors.AsType[unfit](err); never {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		return err
	})
}

// Close tells workers that the run is over, and removes all that it has on the server.
func (l *Lead) Close() error {
	defer l.link.close()
	l.stop()
	ctx, cancel := context.WithTimeout(context.Background(), insistFor)
	defer cancel()
	l.run.Over = true
	if kv, err := l.link.keys.KeyValue(l.link.place.bucket()); err == nil && l.beat(kv) == nil {
		l.await(kv)
	}
	return insist(ctx, l.link.remove)
}

// await gives workers some time to leave. Those that are not told see that the place is gone.
func (l *Lead) await(kv nats.KeyValue) {
	end := time.Now().Add(timeToLeave)
	for name, w := range l.seen {
		for !w.Left && time.Since(w.at) < 2*max(l.run.Lease, beatEvery) && time.Now().Before(end) {
			if entry, err := kv.Get(workerPrefix + name); err == nil {
				w.worker, _ = read[worker](entry)
			}
			time.Sleep(pollEvery / 10)
		}
	}
}
