package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/internal/leftovers"
)

// server is a toxiproxy server outside this process. Others may use it too, so the run's
// proxies have names of their own, and nothing else is touched there: no reset of the
// server, no proxy of another run that is alive.
type server struct {
	api    *api
	url    *url.URL
	prefix string // of the names of this run's proxies
}

// newServer makes sure that the server is there. The address may be a URL, or host:port
// alone.
func newServer(address string) (*server, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil {
		return nil, fmt.Errorf("toxiproxy server: %w", err)
	}
	s := &server{api: newAPI(u), url: u, prefix: runPrefix()}
	if err := s.api.version(); err != nil {
		s.leave()
		return nil, fmt.Errorf("reach toxiproxy server at %s: %w", u.Redacted(), err)
	}
	return s, nil
}

// proxyPrefix is what the names of proxies begin with.
const proxyPrefix = "doubletap-"

// Sweep removes the proxies on a toxiproxy server that processes of this machine have left there when they were killed, and
// returns their names.
func Sweep(address string) ([]string, error) {
	s, err := newServer(address)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	return s.sweep()
}

// sweep removes the proxies of runs on this machine whose process is dead.
func (s *server) sweep() ([]string, error) {
	all, err := s.api.proxies()
	problems := []error{err}
	var removed []string
	for name := range all {
		if leftovers.Dead(name) == "" || !strings.HasPrefix(name, proxyPrefix) {
			continue
		}
		if err := s.api.remove(name); err != nil && !isNotFound(err) {
			problems = append(problems, fmt.Errorf("delete proxy %s: %w", name, err))
			continue
		}
		removed = append(removed, name)
	}
	slices.Sort(removed)
	return removed, errors.Join(problems...)
}

// runPrefix names this run's proxies apart from those of others, and dates the ones that are left behind.
func runPrefix() string {
	return leftovers.Name(proxyPrefix + time.Now().UTC().Format("20060102T150405Z") + "-")
}

// place is the server's URL without a password.
func (s *server) place() string { return s.url.Redacted() }

// reachesLoopback reports that the server is on this machine, as far as its URL tells:
// only then can it reach an upstream tap on 127.0.0.1.
func (s *server) reachesLoopback() bool {
	ip := net.ParseIP(s.url.Hostname())
	return s.url.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// leave gives up the connection that is kept to the server.
func (s *server) leave() { s.api.client.CloseIdleConnections() }

// build makes a proxy and adds its toxics. The server has it accept connections from the
// start, but no one knows its port until this returns. What fails on the way leaves no
// proxy there.
func (s *server) build(ctx context.Context, plan proxyPlan) (toxicProxy, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	listen := plan.listen
	switch {
	case listen != "":
	case s.reachesLoopback():
		listen = "127.0.0.1:0"
	default:
		listen = "0.0.0.0:0"
	}
	name := s.prefix + "-" + strings.ReplaceAll(url.QueryEscape(plan.name), "%", "~")
	made, err := s.api.create(name, listen, plan.upstream)
	if err != nil {
		return nil, fmt.Errorf("create proxy %s on %s at %s: %w", name, listen, s.place(), err)
	}
	r := &serverProxy{server: s, name: name}
	if r.dial, err = s.reachable(listen, made.Listen); err != nil {
		return nil, errors.Join(fmt.Errorf("create proxy %s on %s at %s: %w", name, listen, s.place(), err), r.close(context.WithoutCancel(ctx)))
	}
	for i, t := range plan.toxics {
		if err := r.add(ctx, i, t); err != nil {
			return nil, errors.Join(err, r.close(context.WithoutCancel(ctx)))
		}
	}
	return r, nil
}

// reachable is the address under which a proxy is dialled: one that listens everywhere, at the server. The server says at which
// port it listens; a host that is neither its own nor the one that was asked for is not dialled.
func (s *server) reachable(asked, listen string) (string, error) {
	name, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("it says that it listens at %q: %w", listen, err)
	}
	askedFor, _, _ := net.SplitHostPort(asked)
	ip := net.ParseIP(name)
	switch {
	case ip != nil && ip.IsUnspecified():
		return net.JoinHostPort(s.url.Hostname(), port), nil
	case strings.EqualFold(name, askedFor), strings.EqualFold(name, s.url.Hostname()), ip != nil && ip.IsLoopback() && s.reachesLoopback():
		return listen, nil
	default:
		return "", fmt.Errorf("it says that it listens at %s, which is neither the server nor what was asked for", listen)
	}
}

// serverProxy is a proxy on a server.
type serverProxy struct {
	server *server
	name   string
	dial   string
	toxics []string // names, in the order in which they were added
}

// add adds a toxic, and notes its name for taking it away.
func (r *serverProxy) add(_ context.Context, i int, t toxic) error {
	if err := r.server.api.addToxic(r.name, serverToxic{Name: t.name(i), Type: t.kind, Stream: t.stream, Toxicity: always, Attributes: t.attributes}); err != nil {
		return fmt.Errorf("add toxic %s to proxy %s: %w", t.name(i), r.name, err)
	}
	r.toxics = append(r.toxics, t.name(i))
	return nil
}

// address is where it is dialled, as seen from here.
func (r *serverProxy) address() string { return r.dial }

// lost says that the proxy is not there any more; nil: it is.
func (r *serverProxy) lost() error {
	all, err := r.server.api.proxies()
	if _, there := all[r.name]; there {
		return nil
	}
	if err != nil {
		return &LostError{fmt.Sprintf("the toxiproxy server at %s is gone: %v", r.server.place(), err)}
	}
	return &LostError{fmt.Sprintf("the toxiproxy server at %s does not have the proxy %s any more: it was started again, or emptied", r.server.place(), r.name)}
}

// LostError says that a proxy is not there any more. The target has nothing to do with it.
type LostError struct{ text string }

func (e *LostError) Error() string { return e.text }

// Ours reports that the failure is none of the target's.
func (*LostError) Ours() bool { return true }

// clearToxics removes the last toxic first, for the reason given at inProcessProxy.
func (r *serverProxy) clearToxics(ctx context.Context) error {
	err := inTime(ctx, "remove toxics", func() error {
		for _, name := range slices.Backward(r.toxics) {
			if err := r.server.api.removeToxic(r.name, name); err != nil && !isNotFound(err) {
				return fmt.Errorf("remove toxic %s of proxy %s: %w", name, r.name, err)
			}
		}
		return nil
	})
	if err == nil {
		r.toxics = nil
	}
	return err
}

// close deletes the proxy. One that is gone already is as good.
func (r *serverProxy) close(ctx context.Context) error {
	return inTime(ctx, "delete proxy "+r.name, func() error {
		if err := r.server.api.remove(r.name); err != nil && !isNotFound(err) {
			return fmt.Errorf("delete proxy %s: %w", r.name, err)
		}
		return nil
	})
}

// isNotFound reports that the server does not have it, which is as good as removed.
func isNotFound(err error) bool {
	var answer *apiError
	return errors.As(err, &answer) && answer.status == http.StatusNotFound
}
