package cmd

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/sut/services"
	"github.com/doubletap-harness/doubletap/targets"
)

// withInstances gives a target the number of a flag; 0 leaves it as it is.
func withInstances(t targets.Target, name string, n int) (targets.Target, error) {
	if n == 0 {
		return t, nil
	}
	t, err := t.WithInstances(n)
	if err != nil {
		return t, mistake(fmt.Errorf("--instances of %s: %w", name, err))
	}
	return t, nil
}

// instances is how many are started of the target; 0: it is there already.
func (s *subject) instances() int {
	if s.target.Process == nil {
		return 0
	}
	return s.target.Process.Instances
}

// at is the target as one that listens on a port of its own.
func (s *subject) at(port int) (targets.Target, error) {
	t := s.target
	base, err := url.Parse(t.BaseURL)
	if err != nil {
		return t, mistakef("%s: base_url cannot be parsed", s.name)
	}
	base.Host = net.JoinHostPort(base.Hostname(), strconv.Itoa(port))
	t.BaseURL = base.String()
	return t, nil
}

// findPorts chooses the ports of the instances. A single one has that of base_url, and base_url its: where the
// file leaves it to us it is a free one, and otherwise it must be free, or we would speak to somebody else.
func (s *subject) findPorts() ([]int, error) {
	base, err := url.Parse(s.target.BaseURL)
	if err != nil {
		return nil, mistakef("%s: base_url cannot be parsed", s.name)
	}
	var ports []int
	taken := 0
	if base.Port() != "0" {
		if taken, err = s.freePort(); err != nil {
			return nil, err
		}
		if s.instances() == 1 {
			ports = append(ports, taken)
		}
	}
	for len(ports) < s.instances() {
		port, err := services.FreePort(base.Hostname())
		if err != nil {
			return nil, surroundings(err)
		}
		if port != taken && !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	if len(ports) == 1 {
		s.target, err = s.at(ports[0])
	}
	return ports, err
}

// freePort is the port of base_url, which nobody may have yet.
func (s *subject) freePort() (int, error) {
	address, err := s.upstream()
	if err != nil {
		return 0, err
	}
	if services.Taken(address) {
		return 0, surroundings(fmt.Errorf("somebody takes connections at %s already, where the process of %s is to listen: stop it, or let base_url have port 0 for a free one", address, s.name))
	}
	_, port, _ := net.SplitHostPort(address)
	return strconv.Atoi(port)
}

// balance listens at base_url for the instances at these ports, if they are several.
func (s *subject) balance(ctx context.Context, ports []int) error {
	if len(ports) < 2 {
		return nil
	}
	var places []string
	for _, port := range ports {
		itself, err := s.at(port)
		if err != nil {
			return err
		}
		address, err := addressOf(itself.BaseURL)
		if err != nil {
			return err
		}
		s.started.each, places = append(s.started.each, itself), append(places, address)
	}
	listen, err := s.upstream()
	if err != nil {
		return err
	}
	if s.started.balancer, err = proxy.OpenBalancer(ctx, listen, places); err != nil {
		return surroundings(fmt.Errorf("%s: %w", s.name, err))
	}
	s.started.places = places
	s.target, err = s.at(s.started.balancer.Port())
	return err
}

// received is how many requests the target says it has received: all of its instances.
func (s *subject) received(ctx context.Context, pace *driver.Pace) (int64, error) {
	all := s.started.each
	if len(all) == 0 {
		all = []targets.Target{s.target}
	}
	var sum int64
	for _, one := range all {
		_ = pace.Wait(ctx, 1)
		n, err := driver.Received(ctx, one)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// roads lead to the instances, or to the target where there is one.
func (a *act) roads() []driver.Dialer {
	var all []driver.Dialer
	for i := range a.subject.started.places {
		all = append(all, a.road(i+1))
	}
	if len(all) == 0 {
		all = append(all, a.road(0))
	}
	return all
}

// logOf is where an instance prints: the lines of several say whose they are.
func (s *subject) logOf(i int) io.Writer {
	if s.instances() < 2 {
		return s.started.log
	}
	return prefixed{to: s.started.log, prefix: fmt.Sprintf("instance %d: ", i+1)}
}

// prefixed begins each piece that is written with a word.
type prefixed struct {
	to     io.Writer
	prefix string
}

func (p prefixed) Write(b []byte) (int, error) {
	n, err := p.to.Write(append([]byte(p.prefix), b...))
	return max(0, n-len(p.prefix)), err
}
