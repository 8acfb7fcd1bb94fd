package sinks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/caches"
)

// redisFollower reads what is published in a Redis server. Its consumers do not notice.
type redisFollower struct {
	in       *Inbox
	ask      *caches.Conn // for questions
	read     *caches.Conn // on which messages come
	name     string       // of the stream, the list or the channel, which may be a pattern
	token    string       // of our own marks among the messages
	ended    chan struct{}
	progress Progress

	// Guarded by progress.
	last  entryID
	count int // of entries that were read
	marks int // of our own that came

	sent  int // of our own; likewise of CatchUp's goroutine
	added int // entries that the stream had had, at the beginning
}

// errRedis says that the server answers otherwise than Redis does.
var errRedis = errors.New("its answer cannot be understood; expected a server of Redis")

// followRedis begins to read a stream, the commands on a list, or a channel: what is there already
// is not read.
func followRedis(ctx context.Context, spec targets.Sink, in *Inbox) (Follower, error) {
	f := &redisFollower{in: in, token: "doubletap-" + strings.ToLower(rand.Text()), ended: make(chan struct{})}
	var err error
	if f.ask, err = caches.Dial(ctx, spec.Redis.URL); err != nil {
		return nil, fmt.Errorf("reach Redis: %w", err)
	}
	if f.read, err = caches.Dial(ctx, spec.Redis.URL); err != nil {
		return nil, errors.Join(fmt.Errorf("reach Redis: %w", err), f.ask.Close())
	}
	var loop func() error
	switch r := spec.Redis; {
	case r.Stream != "":
		f.name = r.Stream
		loop, err = f.readEntries, f.beginStream(ctx)
	case r.List != "":
		f.name = r.List
		loop, err = f.readCommands, f.beginMonitor(ctx)
	default:
		f.name = r.Channel
		loop, err = f.readChannel, f.beginChannel()
	}
	if err != nil {
		return nil, errors.Join(err, f.ask.Close(), f.read.Close())
	}
	go func() {
		defer close(f.ended)
		f.progress.Fail(fmt.Errorf("the connection to Redis is lost: %w", loop()))
	}()
	return f, nil
}

// Close ends the reading.
func (f *redisFollower) Close() error {
	err := errors.Join(f.ask.Close(), f.read.Close())
	<-f.ended
	return err
}

// CatchUp waits for the last entry of a stream that is there now, or for a mark of ours that came behind all messages.
func (f *redisFollower) CatchUp(ctx context.Context) error {
	switch r := f.in.spec.Redis; {
	case r.Stream != "":
		return f.catchUpStream(ctx)
	case r.List != "":
		f.sent++
		if _, err := f.ask.Do(ctx, "ECHO", f.mark(f.sent)); err != nil {
			return fmt.Errorf("the connection to Redis is lost: %w", err)
		}
	default:
		f.sent++
		if err := f.read.Send("PING", f.mark(f.sent)); err != nil {
			return fmt.Errorf("the connection to Redis is lost: %w", err)
		}
	}
	return f.progress.Wait(ctx, func() bool { return f.marks >= f.sent })
}

// mark is a text that no producer sends.
func (f *redisFollower) mark(n int) string { return f.token + "-" + strconv.Itoa(n) }

// marked notes a mark of ours, and reports whether a text is one.
func (f *redisFollower) marked(text string) bool {
	number, is := strings.CutPrefix(text, f.token+"-")
	n, err := strconv.Atoi(number)
	if !is || err != nil {
		return false
	}
	f.progress.Move(func() { f.marks = n })
	return true
}

// kept checks that a key is not of another type than it should be. It need not be there yet.
func (f *redisFollower) kept(ctx context.Context, as string) error {
	is, err := f.ask.Do(ctx, "TYPE", f.name)
	if err != nil {
		return fmt.Errorf("ask Redis: %w", err)
	}
	if is != "none" && is != as {
		return fmt.Errorf("%q is no %s in Redis: its type is %v", f.name, as, is)
	}
	return nil
}

// entryID is the id of a stream's entry: milliseconds and a number.
type entryID [2]uint64

// readEntryID reads an id such as 1526919030474-55.
func readEntryID(text string) (id entryID, err error) {
	first, second, _ := strings.Cut(text, "-")
	if id[0], err = strconv.ParseUint(first, 10, 64); err == nil {
		id[1], err = strconv.ParseUint(second, 10, 64)
	}
	return id, err
}

// String is the id as Redis has it.
func (id entryID) String() string { return fmt.Sprintf("%d-%d", id[0], id[1]) }

// before reports that an entry came before another: Redis gives ids in ascending order.
func (id entryID) before(other entryID) bool {
	return id[0] < other[0] || id[0] == other[0] && id[1] < other[1]
}

// beginStream goes to the end of the stream. A group of consumers is none of its business.
func (f *redisFollower) beginStream(ctx context.Context) error {
	if err := f.kept(ctx, "stream"); err != nil {
		return err
	}
	last, added, err := f.stream(ctx)
	f.last, f.added = last, added
	return err
}

// stream returns the last id of the stream, and how many entries it has ever had; negative: the server does not say (before Redis 7).
func (f *redisFollower) stream(ctx context.Context) (last entryID, added int, err error) {
	reply, err := f.ask.Do(ctx, "XINFO", "STREAM", f.name)
	var refused caches.Refusal
	switch {
	case errors.As(err, &refused) && strings.Contains(string(refused), "no such key"):
		return entryID{}, 0, nil
	case err != nil:
		return entryID{}, 0, fmt.Errorf("ask Redis: %w", err)
	}
	pairs, _ := reply.([]any)
	said := map[any]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		said[pairs[i]] = pairs[i+1]
	}
	text, is := said["last-generated-id"].(string)
	if last, err = readEntryID(text); err != nil || !is {
		return last, 0, errRedis
	}
	if added, is = said["entries-added"].(int); !is {
		added = -1
	}
	return last, added, nil
}

// catchUpStream waits for the last entry. Entries that are gone before they are read, as by XADD with MAXLEN, are missing.
func (f *redisFollower) catchUpStream(ctx context.Context) error {
	_, added, err := f.stream(ctx)
	if err != nil {
		return err
	}
	reply, err := f.ask.Do(ctx, "XREVRANGE", f.name, "+", "-", "COUNT", "1")
	if err != nil {
		return fmt.Errorf("ask Redis: %w", err)
	}
	entries, err := readEntries(reply)
	if err != nil {
		return err
	}
	read := 0
	err = f.progress.Wait(ctx, func() bool {
		read = f.count
		return len(entries) == 0 || !f.last.before(entries[0].id)
	})
	if missed := added - f.added - read; err == nil && added >= 0 && f.added >= 0 && missed > 0 {
		return fmt.Errorf("%d of %d entries of the stream %s were gone before they were read: it was trimmed, or they were deleted", missed, added-f.added, f.name)
	}
	return err
}

// entriesAtOnce is how many entries of a stream come at once, which are bounded together.
const entriesAtOnce = "8"

// readEntries reads the stream until the connection ends.
func (f *redisFollower) readEntries() error {
	last := f.last // which only this goroutine changes
	for {
		if err := f.read.Send("XREAD", "BLOCK", "0", "COUNT", entriesAtOnce, "STREAMS", f.name, last.String()); err != nil {
			return err
		}
		reply, err := f.read.Receive()
		if err != nil {
			return err
		}
		streams, is := reply.([]any)
		if !is || len(streams) != 1 {
			return errRedis
		}
		stream, is := streams[0].([]any)
		if !is || len(stream) != 2 {
			return errRedis
		}
		entries, err := readEntries(stream[1])
		if err != nil {
			return err
		}
		for _, e := range entries {
			f.in.Publish(Published{To: f.name, Fields: e.fields})
			last = e.id
			f.progress.Move(func() { f.last, f.count = last, f.count+1 })
		}
	}
}

type entry struct {
	id     entryID
	fields map[string]string
}

// readEntries understands a list of entries. Of fields with one name the last counts.
func readEntries(reply any) ([]entry, error) {
	list, is := reply.([]any)
	if !is {
		return nil, errRedis
	}
	var all []entry
	for _, one := range list {
		pair, is := one.([]any)
		if !is || len(pair) != 2 {
			return nil, errRedis
		}
		text, _ := pair[0].(string)
		id, err := readEntryID(text)
		if err != nil {
			return nil, errRedis
		}
		e := entry{id: id, fields: map[string]string{}}
		fields, _ := pair[1].([]any) // nil: it is deleted
		for i := 0; i+1 < len(fields); i += 2 {
			name, _ := fields[i].(string)
			e.fields[name], _ = fields[i+1].(string)
		}
		all = append(all, e)
	}
	return all, nil
}

// beginChannel subscribes to the channel, or to all channels that a pattern fits.
func (f *redisFollower) beginChannel() error {
	command := "SUBSCRIBE"
	if strings.ContainsAny(f.name, "*?[") {
		command = "PSUBSCRIBE"
	}
	if err := f.read.Send(command, f.name); err != nil {
		return fmt.Errorf("ask Redis: %w", err)
	}
	reply, err := f.read.Receive()
	if err != nil {
		return fmt.Errorf("ask Redis: %w", err)
	}
	if _, is := reply.([]any); !is {
		return errRedis
	}
	return nil
}

// readChannel reads what is published until the connection ends.
func (f *redisFollower) readChannel() error {
	for {
		reply, err := f.read.Receive()
		if err != nil {
			return err
		}
		list, is := reply.([]any)
		if !is || len(list) < 2 {
			return errRedis
		}
		var words []string
		for _, one := range list {
			word, _ := one.(string)
			words = append(words, word)
		}
		switch kind := words[0]; {
		case kind == "pong":
			f.marked(words[1])
		case kind == "message" && len(words) == 3, kind == "pmessage" && len(words) == 4:
			f.in.Publish(Published{To: words[len(words)-2], Body: []byte(words[len(words)-1])})
		}
	}
}
