package sinks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets"
)

// mostBehind is how long a follower may take to read what is at its broker.
const mostBehind = 30 * time.Second

// Follower reads what is published at a broker until it is closed.
type Follower interface {
	// CatchUp returns when everything that was published before is on record. The error says why something may be missing, now and
	// for good. It is for one goroutine at a time.
	CatchUp(ctx context.Context) error
	io.Closer
}

// Follow begins to read what is published from now on at the place that a sink of the target file names, and gives it to
// [Inbox.Publish]. The context is for the beginning.
type Follow func(ctx context.Context, spec targets.Sink, in *Inbox) (Follower, error)

// Follow adds the sinks that read from a broker, and tries each. The error says which one could not.
func (s *Sinks) Follow(ctx context.Context, specs map[string]targets.Sink, spoken Protocols) error {
	for _, name := range (targets.Target{Sinks: specs}).SinkNames() {
		spec := specs[name]
		if !spec.Followed() {
			continue
		}
		in := &Inbox{name: name, spec: spec, first: map[string]string{}, follow: followRedis}
		if spec.RabbitMQ != nil {
			in.follow = spoken.RabbitMQ
		}
		err := ErrNoProtocol
		if in.follow != nil {
			err = try(ctx, in)
		}
		if err != nil {
			return fmt.Errorf("sinks.%s: %w", name, err)
		}
		s.all = append(s.all, in)
	}
	return nil
}

// try follows a sink for a moment.
func try(ctx context.Context, in *Inbox) error {
	f, err := in.follow(ctx, in.spec, in)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, mostBehind)
	defer cancel()
	return errors.Join(f.CatchUp(bounded), f.Close())
}

// CatchUp returns when everything that the target has given to brokers before is on record. The error says of which sink something
// may be missing, and why; it stays so until the watch ends.
func (s *Sinks) CatchUp(ctx context.Context) error {
	var errs []error
	for _, one := range s.all {
		errs = append(errs, one.catchUp(ctx))
	}
	return errors.Join(errs...)
}

// catchUp waits until the follower of one sink has read all. What was missed once stays missed:
// later messages do not make up for it.
func (in *Inbox) catchUp(ctx context.Context) error {
	if in.follower == nil || in.behind != nil {
		return in.behind
	}
	bounded, cancel := context.WithTimeout(ctx, mostBehind)
	defer cancel()
	if err := in.follower.CatchUp(bounded); err != nil && ctx.Err() == nil {
		in.behind = fmt.Errorf("messages of the sink %s may be missing: %w", in.name, err)
	}
	return in.behind
}

// unfollow ends the reading.
func (in *Inbox) unfollow() {
	if in.follower != nil {
		_ = in.follower.Close() // what it has read is on record
	}
	in.follower, in.behind = nil, nil
}

// mostFields is how many fields of a message are looked at.
const mostFields = 10_000

// Published is one message that the target gave to a broker.
type Published struct {
	At     string            // an exchange; empty: nothing besides To
	To     string            // a stream, a list, a channel, or a routing key
	Fields map[string]string // of an entry, or headers and properties
	Body   []byte            // nil: its fields are all that it has
}

// traceparent is a header of W3C Trace Context, version 00, wherever it stands.
var traceparent = regexp.MustCompile(`\b00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\b`)

// Publish takes a message down that a broker has. A message whose key was known before is none of its own, where the sink's consumers
// know their keys.
func (in *Inbox) Publish(p Published) {
	in.mu.Lock()
	defer in.mu.Unlock()
	m, body := in.message(p)
	if in.watch != nil && in.trap.catches(&m) && !in.trap.before {
		m.Fault = crashed
	}
	key := m.Key
	in.take(&m, body)
	if in.spec.Message().Idempotent && key != "" && m.First == "" && in.remembers(len(key), len(in.first)) {
		in.first[key] = cmp.Or(m.ID, offRecord)
	}
}

// message is what is known of a message to a broker, and the text that goes on record. The caller holds the lock.
func (in *Inbox) message(p Published) (m history.Message, body []byte) {
	parts := in.spec.Message()
	p, length, cut := p.bounded()
	var said any
	switch {
	case p.Body == nil:
		said = members(p.Fields)
		p.Body, _ = json.Marshal(p.Fields) // texts only
		if !cut {
			length = int64(len(p.Body))
		}
	case !cut:
		said = parsed(p.Body, "")
	}
	texts := [][]byte{[]byte(p.To), p.Body}
	for _, name := range slices.Sorted(maps.Keys(p.Fields)) {
		texts = append(texts, []byte(name), []byte(p.Fields[name]))
	}
	m = history.Message{
		Method: history.Publish, Path: p.At, To: []string{p.To}, Subject: partOf(parts.Type, p.Fields, said), Key: partOf(parts.Key, p.Fields, said),
		Intent: partOf(parts.Intent, p.Fields, said), Names: find(texts...), Length: length, Acted: true,
	}
	for _, text := range texts {
		for _, parent := range traceparent.FindAllString(string(text), -1) {
			if trace := traces(parent); len(m.Traces) < mostNames && !slices.Contains(m.Traces, trace[0]) {
				m.Traces = append(m.Traces, trace...)
			}
		}
	}
	if cut {
		m.Error = fmt.Sprintf("it has %d bytes, of which the first %d were looked at", length, mostBody)
	}
	if parts.Idempotent && m.Key != "" {
		m.First = in.first[m.Key]
	}
	return m, p.Body
}

// bounded is as much of a message as is looked at, how many bytes it has, and whether that is more: of the body as many as of all fields.
func (p Published) bounded() (some Published, length int64, cut bool) {
	length = int64(len(p.Body))
	cut = len(p.Body) > mostBody
	p.Body = p.Body[:min(len(p.Body), mostBody)]
	whole, left := p.Fields, mostBody
	p.Fields = make(map[string]string, min(len(whole), mostFields))
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		value := whole[name]
		if p.Body == nil {
			length += int64(len(name) + len(value))
		}
		if left -= len(name) + len(value); left < 0 || len(p.Fields) == mostFields {
			cut = true
			continue
		}
		p.Fields[name] = value
	}
	return p, length, cut
}

// members are the fields of an entry. One that is JSON is what it says.
func members(fields map[string]string) map[string]any {
	all := map[string]any{}
	for name, text := range fields {
		if all[name] = text; strings.HasPrefix(text, "{") {
			if value := parsed([]byte(text), ""); value != nil {
				all[name] = value
			}
		}
	}
	return all
}

// partOf is the text at a place of a message: a JSON pointer into what it says, or the name of a field, a header or a member; empty:
// it has none.
func partOf(place string, fields map[string]string, said any) string {
	switch {
	case place == "":
		return ""
	case !strings.HasPrefix(place, "/"):
		for name, text := range fields {
			if strings.EqualFold(name, place) {
				return text
			}
		}
		place = jsonpointer.Of(place)
	}
	switch value, _ := jsonpointer.Resolve(said, place); value.(type) {
	case nil, map[string]any, []any:
		return ""
	default:
		return fmt.Sprint(value)
	}
}

// Progress is how far a [Follower] has read. The zero value is the beginning. It is safe for concurrent use.
type Progress struct {
	mu    sync.Mutex
	err   error
	moved chan struct{} // closed with the next move; nil: nobody waits
}

// Move takes a step that [Progress.Wait] may wait for.
func (p *Progress) Move(step func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	step()
	if p.moved != nil {
		close(p.moved)
		p.moved = nil
	}
}

// Fail ends all waiting, now and later: what comes may be missing.
func (p *Progress) Fail(err error) { p.Move(func() { p.err = cmp.Or(p.err, err) }) }

// Wait returns when a follower is there. The error is that of [Progress.Fail].
func (p *Progress) Wait(ctx context.Context, there func() bool) error {
	for {
		p.mu.Lock()
		err, arrived := p.err, p.err == nil && there()
		if p.moved == nil {
			p.moved = make(chan struct{})
		}
		moved := p.moved
		p.mu.Unlock()
		if err != nil || arrived {
			return err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("what is there is not read: %w", ctx.Err())
		}
	}
}
