package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"

	"github.com/doubletap-harness/doubletap/internal/leftovers"
)

// server is a toxiproxy server outside this process.
type server struct {
	client *toxiproxy.Client
	url    *url.URL
	prefix string // of the names of this run's proxies
}

// newServer makes sure that the server is there.
func newServer(address string) (*server, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil {
		return nil, fmt.Errorf("toxiproxy server: %w", err)
	}
	s := &server{client: toxiproxy.NewClient(u.String()), url: u, prefix: runPrefix()}
	if _, err := s.client.Version(); err != nil {
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

func (s *server) sweep() ([]string, error) {
	all, err := s.client.Proxies()
	problems := []error{err}
	var removed []string
	for name, p := range all {
		if leftovers.Dead(name) == "" || !strings.HasPrefix(name, proxyPrefix) {
			continue
		}
		if err := p.Delete(); err != nil && !isNotFound(err) {
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

func (s *server) place() string { return s.url.Redacted() }

func (s *server) reachesLoopback() bool {
	ip := net.ParseIP(s.url.Hostname())
	return s.url.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// leave gives up the connection that the client keeps to the server; it lives in the default pool.
func (*server) leave() { http.DefaultClient.CloseIdleConnections() }

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
	p, err := s.client.CreateProxy(name, listen, plan.upstream)
	if err != nil {
		return nil, fmt.Errorf("create proxy %s on %s at %s: %w", name, listen, s.place(), err)
	}
	r := &serverProxy{proxy: p, dial: s.reachable(p.Listen)}
	for i, t := range plan.toxics {
		if err := r.add(ctx, i, t); err != nil {
			return nil, errors.Join(err, r.close(context.WithoutCancel(ctx)))
		}
	}
	return r, nil
}

// reachable is the address under which a proxy that listens everywhere is dialled.
func (s *server) reachable(listen string) string {
	name, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(name); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort(s.url.Hostname(), port)
	}
	return listen
}

// serverProxy is a proxy on a server.
type serverProxy struct {
	proxy  *toxiproxy.Proxy
	dial   string
	toxics []string // names, in the order in which they were added
}

func (r *serverProxy) add(_ context.Context, i int, t toxic) error {
	var attributes toxiproxy.Attributes
	content, err := json.Marshal(t.attributes)
	if err == nil {
		err = json.Unmarshal(content, &attributes)
	}
	if err == nil {
		_, err = r.proxy.AddToxic(t.name(i), t.kind, t.stream, always, attributes)
	}
	if err != nil {
		return fmt.Errorf("add toxic %s to proxy %s: %w", t.name(i), r.proxy.Name, err)
	}
	r.toxics = append(r.toxics, t.name(i))
	return nil
}

func (r *serverProxy) address() string { return r.dial }

// clearToxics removes the last toxic first, for the reason given at inProcessProxy.
func (r *serverProxy) clearToxics(ctx context.Context) error {
	err := inTime(ctx, "remove toxics", func() error {
		for _, name := range slices.Backward(r.toxics) {
			if err := r.proxy.RemoveToxic(name); err != nil && !isNotFound(err) {
				return fmt.Errorf("remove toxic %s of proxy %s: %w", name, r.proxy.Name, err)
			}
		}
		return nil
	})
	if err == nil {
		r.toxics = nil
	}
	return err
}

func (r *serverProxy) close(ctx context.Context) error {
	return inTime(ctx, "delete proxy "+r.proxy.Name, func() error {
		if err := r.proxy.Delete(); err != nil && !isNotFound(err) {
			return fmt.Errorf("delete proxy %s: %w", r.proxy.Name, err)
		}
		return nil
	})
}

func isNotFound(err error) bool {
	var answer *toxiproxy.ApiError
	return errors.As(err, &answer) && answer.Status == http.StatusNotFound
}
