package sinks

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/doubletap-harness/doubletap/sinks/wire"
	"github.com/doubletap-harness/doubletap/targets"
)

// Gate stands on the way of a target to a broker. While a trap is set that keeps messages before they are done, it keeps those from the
// broker. The zero value is ready to use. It is safe for concurrent use.
type Gate struct {
	mu      sync.Mutex
	inboxes []*Inbox // which read at the broker
	trap    *trap    // that keeps messages before they are done; nil: none
}

// Guard has the gate keep messages that a sink would read at the broker.
func (s *Sinks) Guard(name string, g *Gate) {
	for _, in := range s.all {
		if in.name == name && in.follow != nil {
			g.mu.Lock()
			g.inboxes = append(g.inboxes, in)
			g.mu.Unlock()
			s.gates = append(s.gates, g)
		}
	}
}

// Screen reads one connection to the broker: what it returns takes what the target says next, and says how many bytes of that are passed
// on. Held: the rest never is; when it is closed, the connection is to be broken. Nil: nothing is held.
func (g *Gate) Screen() func(said []byte) (pass int, held <-chan struct{}) {
	var reader wire.Reader
	return func(said []byte) (pass int, held <-chan struct{}) {
		pass = len(said)
		reader.Read(said, func(s wire.Said, before int) bool {
			if held = g.stops(s); held != nil {
				pass = before
			}
			return held != nil
		})
		return pass, held
	}
}

// set arms the gate. Only a trap that strikes before the effect holds anything: after it, the
// message is at the broker.
func (g *Gate) set(t *trap) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.trap = t; t != nil && !t.before {
		g.trap = nil
	}
}

// stops returns until when something is held, and puts it on record; nil: it may pass.
func (g *Gate) stops(s wire.Said) <-chan struct{} {
	g.mu.Lock()
	t, inboxes := g.trap, g.inboxes
	g.mu.Unlock()
	if t == nil {
		return nil
	}
	for _, in := range inboxes {
		for _, p := range announced(in.spec, s) {
			if in.stops(p, t) {
				return t.release
			}
		}
	}
	return nil
}

// stops reports that a message has to be kept from the broker, and puts it on record as one that was not done.
func (in *Inbox) stops(p Published, t *trap) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	m, body := in.message(p)
	if in.watch == nil || in.trap != t || !t.catches(&m) {
		return false
	}
	m.Acted, m.Fault = false, crashed
	in.take(&m, body)
	return true
}

// announced is what a sink will read at the broker because of what a target says there.
func announced(spec targets.Sink, s wire.Said) []Published {
	switch m := s.Message; {
	case spec.Redis != nil && s.Command != nil:
		return commanded(*spec.Redis, s.Command)
	case spec.RabbitMQ == nil || m == nil || m.Exchange != spec.RabbitMQ.Exchange:
		return nil
	case spec.RabbitMQ.Queue != "" && m.RoutingKey != spec.RabbitMQ.Queue,
		spec.RabbitMQ.Queue == "" && !bound(strings.Split(spec.RabbitMQ.RoutingKey, "."), strings.Split(m.RoutingKey, ".")):
		return nil
	default:
		return []Published{{At: m.Exchange, To: m.RoutingKey, Fields: m.Fields, Body: append([]byte{}, m.Body...)}}
	}
}

// bound reports whether a routing key is as a binding says, in which a * stands for a word and a # for any.
func bound(pattern, key []string) bool {
	switch {
	case len(pattern) == 0:
		return len(key) == 0
	case pattern[0] == "#":
		return bound(pattern[1:], key) || len(key) > 0 && bound(pattern, key[1:])
	default:
		return len(key) > 0 && (pattern[0] == "*" || pattern[0] == key[0]) && bound(pattern[1:], key[1:])
	}
}

// commanded is what a command publishes at a place in Redis. Of a script that is told the place all words are taken.
func commanded(spec targets.RedisSink, words []string) []Published {
	place := spec.Stream + spec.List + spec.Channel // of which there is one
	if len(words) < 3 {
		return nil
	}
	named := func(word string) bool { return named(place, word, spec.Stream == "") }
	switch command := strings.ToUpper(words[0]); {
	case slices.Contains([]string{"EVAL", "EVALSHA", "FCALL"}, command):
		if at := slices.IndexFunc(words[1:], named); at >= 0 {
			return []Published{{To: words[at+1], Body: []byte(strings.Join(words[1:], " "))}}
		}
	case spec.Stream != "" && command == "XADD" && named(words[1]):
		return []Published{{To: words[1], Fields: added(words[2:])}}
	case spec.Channel != "" && (command == "PUBLISH" || command == "SPUBLISH") && named(words[1]):
		return []Published{{To: words[1], Body: []byte(words[2])}}
	case spec.List != "":
		var all []Published
		for _, text := range pushed(words, place) {
			all = append(all, Published{To: words[1], Body: []byte(text)})
		}
		return all
	}
	return nil
}

// named reports whether a word is the name of a place in Redis, which may be a pattern.
func named(place, word string, pattern bool) bool {
	if !pattern {
		return place == word
	}
	fits, _ := path.Match(strings.ReplaceAll(place, "/", "\x00"), strings.ReplaceAll(word, "/", "\x00"))
	return fits
}

// added are the fields of an entry that XADD adds, whose words stand behind the name of the stream: options, an id, and pairs.
func added(words []string) map[string]string {
	at := 0
	for at < len(words) {
		switch strings.ToUpper(words[at]) {
		case "NOMKSTREAM", "~", "=", "KEEPREF", "DELREF", "ACKED":
			at++
		case "LIMIT":
			at += 2
		case "MAXLEN", "MINID":
			if at++; at < len(words) && (words[at] == "~" || words[at] == "=") {
				at++
			}
			at++
		default:
			fields := map[string]string{}
			for i := at + 1; i+1 < len(words); i += 2 {
				fields[words[i]] = words[i+1]
			}
			return fields
		}
	}
	return nil
}
