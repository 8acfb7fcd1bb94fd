package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// ErrOver is why a worker's shard ends that is not wanted any more: the run is over, or its coordinator is gone.
var ErrOver = errors.New("the run is over")

// Member is a worker at a place. [Join] makes one. It is not safe for concurrent use.
type Member struct {
	Name string
	Run  Run
	Task []byte

	link *link
	kv   nats.KeyValue
	said worker
}

// Join waits until a run is to be had at a place, at most so long, and fetches its task. The run is over where the error is
// [ErrOver].
func Join(ctx context.Context, p Place, wait time.Duration) (*Member, error) {
	l, err := connect(p)
	if err != nil {
		return nil, err
	}
	m := &Member{Name: newWorker(), link: l}
	if err := m.find(ctx, wait); err != nil {
		l.close()
		return nil, err
	}
	return m, nil
}

// find waits for a run.
func (m *Member) find(ctx context.Context, wait time.Duration) error {
	p, end := m.link.place, time.Now().Add(wait)
	for {
		age, run, err := m.link.age()
		if err == nil && age < deadAfter && run.Open && !run.Over {
			if err := run.check(); err != nil {
				return m.link.failed("join a run", err)
			}
			m.Run = run
			return m.fetch(ctx)
		}
		if time.Now().After(end) {
			return cmp.Or(err, runerror.Environment(fmt.Errorf("no run was at %s for %s", p, wait)))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollEvery):
		}
	}
}

// fetch gets the task.
func (m *Member) fetch(ctx context.Context) error {
	err := insist(ctx, func() error {
		objects, err := m.link.js.ObjectStore(m.link.place.bucket())
		if err == nil {
			m.Task, err = fetchTask(ctx, objects)
		}
		if err == nil {
			m.kv, err = m.link.keys.KeyValue(m.link.place.bucket())
		}
		return err
	})
	if gone(err) {
		return ErrOver
	}
	return m.link.failed("fetch the task of a run", err)
}

// fetchTask reads the task, which is of another machine: no more of it than a file may hold.
func fetchTask(ctx context.Context, objects nats.ObjectStore) ([]byte, error) {
	object, err := objects.Get(taskName, nats.Context(ctx))
	if err != nil {
		return nil, err
	}
	defer object.Close()
	task, err := io.ReadAll(io.LimitReader(object, files.MostText+1))
	if err == nil && len(task) > files.MostText {
		err = unfit{fmt.Errorf("its task is larger than %d MiB", files.MostText>>20)}
	}
	return task, err
}

// Refuse leaves, and tells the coordinator why.
func (m *Member) Refuse(why error) {
	m.leave(why)
	m.link.close()
}

// leave says that the worker is not there any more.
func (m *Member) leave(why error) {
	m.said = worker{Run: m.Run.ID, Left: true}
	if why != nil {
		m.said.Why, _, _ = strings.Cut(why.Error(), "\n")
	}
	_ = m.say() // nobody to tell is no reason not to leave
}

// say writes down what the worker does, where the coordinator sees it.
func (m *Member) say() error {
	_, err := m.kv.Put(workerPrefix+m.Name, text(m.said))
	return err
}

// cutWorker returns the name of a worker from its key in the bucket, and whether it is one.
func cutWorker(key string) (string, bool) { return strings.CutPrefix(key, workerPrefix) }

// Work plays shards until the run is over, and returns how many of them it has brought in. Play gets the number of a shard and
// returns the directory of its run. Its context ends when the shard is not wanted any more. An error of it ends the work, and
// leaves the shard to others.
func (m *Member) Work(ctx context.Context, play func(ctx context.Context, shard, attempt int) (string, error), tell func(Event)) (int, error) {
	defer m.link.close()
	m.said = worker{Run: m.Run.ID}
	if err := insist(ctx, m.say); err != nil && !gone(err) {
		return 0, m.link.failed("join a run", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		m.watch(ctx, cancel)
	}()
	brought, err := m.shards(ctx, play, tell)
	over := errors.Is(context.Cause(ctx), ErrOver)
	cancel(nil)
	<-watching
	switch {
	case over || errors.Is(err, ErrOver):
		m.leave(nil)
		return brought, nil
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		m.leave(nil)
	default:
		m.leave(err)
	}
	return brought, err
}

// watch ends the context when the run is over, or its coordinator has not been heard of.
func (m *Member) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	heard, revision := time.Now(), uint64(0)
	every(ctx, pollEvery, func() {
		_, err := m.kv.Status() // a bucket that was removed does not answer what its keys are
		var entry nats.KeyValueEntry
		if err == nil {
			entry, err = m.kv.Get(runKey)
		}
		run := Run{}
		if err == nil {
			run, err = read[Run](entry)
		}
		switch {
		case gone(err), err == nil && (run.ID != m.Run.ID || run.Over):
			cancel(ErrOver)
		case err == nil && entry.Revision() != revision:
			heard, revision = time.Now(), entry.Revision()
		case time.Since(heard) > insistFor+deadAfter:
			cancel(runerror.Environment(fmt.Errorf("the coordinator at %s has not been heard of for %s", m.link.place, time.Since(heard).Round(time.Second))))
		}
	})
}

// shards takes one shard after the other.
func (m *Member) shards(ctx context.Context, play func(context.Context, int, int) (string, error), tell func(Event)) (int, error) {
	p := m.link.place
	queue, err := m.link.js.PullSubscribe(p.subject(), consumerName, nats.Bind(p.stream(), consumerName))
	if err != nil {
		if gone(err) || errors.Is(err, nats.ErrConsumerNotFound) {
			return 0, ErrOver
		}
		return 0, m.link.failed("ask for shards", err)
	}
	defer queue.Unsubscribe()
	brought, beaten := 0, time.Now()
	for {
		if ctx.Err() != nil {
			return brought, context.Cause(ctx)
		}
		if time.Since(beaten) > beatEvery {
			_ = m.say()
			beaten = time.Now()
		}
		messages, err := queue.Fetch(1, nats.MaxWait(mostPolls))
		if len(messages) == 0 {
			if err != nil && !errors.Is(err, nats.ErrTimeout) {
				pause(ctx, pollEvery) // the server is away, or the run is over, which the watch sees
			}
			continue
		}
		mine, err := m.take(ctx, messages[0], play, tell)
		if mine {
			brought++
		}
		if err != nil {
			return brought, err
		}
	}
}

// pause waits, unless the context ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// take plays the shard of one message. Mine says whether its result was the first.
func (m *Member) take(ctx context.Context, message *nats.Msg, play func(context.Context, int, int) (string, error), tell func(Event)) (mine bool, err error) {
	meta, err := message.Metadata()
	if err != nil {
		return false, m.link.failed("take a shard", err)
	}
	o, err := read[order](sent{message})
	if err != nil || o.Run != m.Run.ID || o.Shard < 1 || o.Shard > m.Run.Shards {
		_ = message.Term()
		return false, nil
	}
	attempt := int(meta.NumDelivered)
	if _, err := m.kv.Get(shardKey(o.Shard)); err == nil { // whoever stored it was killed before it said so
		return false, m.acknowledge(ctx, message)
	}
	if attempt > mostAttempts {
		why := fmt.Sprintf("%d workers began it, and none came to its end", mostAttempts)
		_, err := m.store(ctx, o.Shard, result{Run: m.Run.ID, Worker: m.Name, Attempt: attempt, GivenUp: why})
		return false, errors.Join(err, m.acknowledge(ctx, message))
	}
	m.said = worker{Run: m.Run.ID, Shard: o.Shard, Attempt: attempt}
	_ = m.say()
	defer func() {
		m.said = worker{Run: m.Run.ID}
		if ctx.Err() == nil {
			_ = m.say()
		}
	}()
	tell(Event{Kind: Begun, Shard: o.Shard, Attempt: attempt})
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	held := make(chan struct{})
	go func() {
		defer close(held)
		every(holding, min(m.Run.Lease/3, beatEvery), func() {
			_ = message.InProgress()
			_ = m.say()
		})
	}()
	defer func() { release(); <-held }()
	began := time.Now()
	dir, err := play(ctx, o.Shard, attempt)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = message.Nak() // another worker need not wait until we have been silent
		return false, err
	}
	mine, err = m.bring(ctx, o.Shard, attempt, dir, time.Since(began))
	if err != nil {
		return false, err
	}
	kind := Beaten
	if mine {
		kind = Stored
	}
	tell(Event{Kind: kind, Shard: o.Shard, Attempt: attempt, Took: time.Since(began)})
	return mine, m.acknowledge(ctx, message)
}

// sent makes a message readable as a value.
type sent struct{ message *nats.Msg }

func (s sent) Value() []byte { return s.message.Data }

// bring stores what a shard left. The first result of a shard stays.
func (m *Member) bring(ctx context.Context, shard, attempt int, dir string, took time.Duration) (bool, error) {
	name := objectOf(shard, attempt, m.Name)
	var objects nats.ObjectStore
	err := insist(ctx, func() (err error) {
		if objects, err = m.link.js.ObjectStore(m.link.place.bucket()); err != nil {
			return err
		}
		packed, end := io.Pipe()
		go func() { end.CloseWithError(pack(dir, end)) }()
		defer packed.Close()
		_, err = objects.Put(&nats.ObjectMeta{Name: name}, packed, nats.Context(ctx))
		return err
	})
	if err != nil {
		return false, m.over("store what a shard has left", err)
	}
	mine, err := m.store(ctx, shard, result{Run: m.Run.ID, Worker: m.Name, Attempt: attempt, Object: name, Took: took})
	if err == nil && !mine {
		_ = objects.Delete(name)
	}
	return mine, err
}

// store stores a result, unless there is one.
func (m *Member) store(ctx context.Context, shard int, r result) (bool, error) {
	err := insist(ctx, func() error {
		_, err := m.kv.Create(shardKey(shard), text(r))
		return err
	})
	if errors.Is(err, nats.ErrKeyExists) { // ours, perhaps, of which the answer was lost
		entry, err := m.kv.Get(shardKey(shard))
		if err != nil {
			return false, m.over("store what a shard has left", err)
		}
		there, err := read[result](entry)
		return err == nil && there.Object == r.Object && there.Worker == r.Worker, nil
	}
	return err == nil, m.over("store what a shard has left", err)
}

// acknowledge takes a shard off the stream.
func (m *Member) acknowledge(ctx context.Context, message *nats.Msg) error {
	err := insist(ctx, func() error {
		within, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		err := message.AckSync(nats.Context(within))
		if errors.Is(err, nats.ErrMsgAlreadyAckd) {
			return nil
		}
		return err
	})
	return m.over("take a shard off the list", err)
}

// over is the error of what the server did not do, which is that of a run that is over where its place is gone.
func (m *Member) over(what string, err error) error {
	if gone(err) {
		return ErrOver
	}
	return m.link.failed(what, err)
}
