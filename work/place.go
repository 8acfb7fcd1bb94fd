// Package work shares a run among workers by way of a NATS server with JetStream: a stream
// has a message for each shard, which one worker at a time takes; an object store takes in
// what the workers' runs left on disk; and a key-value bucket says where the run stands.
// What is sent, and to what, is not known here.
//
// A worker may die at any moment. Its shard then goes to another, and is sent again with
// new markers: rows of the first try belong to no intent of the second.
package work

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// Place is a NATS server and a name on it, where one run at a time is shared.
type Place struct {
	server *url.URL // may hold a password
	name   string
}

var (
	placeName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	unnamed   = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
)

// ParsePlace reads nats://HOST:PORT/NAME, or tls:// of it, with a user and a password or a token before the host, if need be.
// An error does not repeat them.
func ParsePlace(text string) (Place, error) {
	server, name, err := parse(text)
	switch {
	case err != nil:
		return Place{}, err
	case !placeName.MatchString(name):
		return Place{}, errors.New("expected a name of letters, digits, - and _ behind the server, such as nats://127.0.0.1:4222/nightly")
	}
	return Place{server, name}, nil
}

// ParseServer reads nats://HOST:PORT, or tls:// of it.
func ParseServer(text string) (Place, error) {
	server, name, err := parse(text)
	if err == nil && name != "" {
		err = errors.New("expected a server, such as nats://127.0.0.1:4222, without a name")
	}
	return Place{server: server}, err
}

// parse reads an address and the name behind it. The error does not show the text, in which a
// password may stand.
func parse(text string) (*url.URL, string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, "", errors.New("expected a NATS server, such as nats://127.0.0.1:4222/nightly")
	}
	name := strings.TrimPrefix(u.Path, "/")
	u.Path, u.RawPath = "", ""
	return u, name, nil
}

// Secret reports that the address has a password or a token in it.
func (p Place) Secret() bool { return p.server.User != nil }

// String is the address without a password or a token.
func (p Place) String() string {
	shown := *p.server
	shown.User, shown.Path = nil, p.name
	return shown.String()
}

// Names on the server.
const prefix = "doubletap-"

func (p Place) bucket() string  { return prefix + p.name } // of keys, and of objects
func (p Place) stream() string  { return prefix + "shards-" + p.name }
func (p Place) subject() string { return "doubletap.shards." + p.name }

// How long is waited for the server.
const (
	answerWithin = 10 * time.Second
	keyWithin    = 3 * time.Second // for what is said again anyway; a bucket that was removed does not answer
	insistFor    = time.Minute     // while it is away
	keepFor      = 7 * 24 * time.Hour
)

// link is a connection to a server.
type link struct {
	place Place
	conn  *nats.Conn
	js    nats.JetStreamContext
	keys  nats.JetStreamContext // for the bucket of keys
}

// connect connects to a server, which has to be there, and is waited for later, when it goes away.
func connect(p Place) (*link, error) {
	host, _ := os.Hostname()
	conn, err := nats.Connect(p.server.String(), nats.Name("doubletap on "+host), nats.Timeout(answerWithin),
		nats.MaxReconnects(-1), nats.ReconnectWait(time.Second), nats.NoCallbacksAfterClientClose(),
		nats.IgnoreDiscoveredServers(),                                    // nothing is contacted but what the user names
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // which would print what the server says, as it is
	if err != nil {
		return nil, runerror.Environment(fmt.Errorf("no NATS server takes us at %s: %w", p, err))
	}
	l := &link{place: p, conn: conn}
	if l.js, err = conn.JetStream(nats.MaxWait(answerWithin)); err == nil {
		_, err = l.js.AccountInfo()
	}
	if err == nil {
		l.keys, err = conn.JetStream(nats.MaxWait(keyWithin))
	}
	if err != nil {
		conn.Close()
		return nil, runerror.Environment(fmt.Errorf("the NATS server at %s has no JetStream for us (nats-server -js): %w", p, err))
	}
	return l, nil
}

func (l *link) close() { l.conn.Close() }

// failed says of what the server did not do that it is the environment's.
func (l *link) failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return runerror.Environment(fmt.Errorf("%s at %s: %w", what, l.place, err))
}

// gone are the errors of something that is not there, or not there any more.
func gone(err error) bool {
	for _, known := range []error{nats.ErrKeyNotFound, nats.ErrKeyDeleted, nats.ErrBucketNotFound, nats.ErrStreamNotFound, nats.ErrObjectNotFound} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// insist does something that may fail while the server is away, until it is done or there is no point in it: what is asked for is not
// there, or this machine's disk is full.
func insist(ctx context.Context, do func() error) error {
	for end := time.Now().Add(insistFor); ; {
		err := do()
		_, never := errors.AsType[unfit](err)
		_, here := errors.AsType[*fs.PathError](err)
		if err == nil || never || here || gone(err) || errors.Is(err, nats.ErrKeyExists) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(time.Second):
		}
	}
}

// newWorker names a worker by its machine and something random.
func newWorker() string {
	host, _ := os.Hostname()
	host = unnamed.ReplaceAllString(host, "-")
	return host[:min(len(host), 40)] + "-" + strings.ToLower(rand.Text()[:4])
}

// remove removes all that is there for the runs of a place.
func (l *link) remove() error {
	p := l.place
	var errs []error
	for _, err := range []error{l.js.DeleteStream(p.stream()), l.js.DeleteObjectStore(p.bucket()), l.js.DeleteKeyValue(p.bucket())} {
		if !gone(err) {
			errs = append(errs, err)
		}
	}
	return l.failed("remove what the run has left", errors.Join(errs...))
}
