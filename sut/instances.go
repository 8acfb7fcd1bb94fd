package sut

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/internal/ports"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/snapshots"
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
		return t, runerror.Config(fmt.Errorf("--instances of %s: %w", name, err))
	}
	return t, nil
}

// Instances is how many are started of the target; 0: it is there already.
func (s *System) Instances() int {
	if s.Target.Process == nil {
		return 0
	}
	return s.Target.Process.Instances
}

// at is the target as one that listens on a port of its own.
func (s *System) at(port int) (targets.Target, error) {
	t := s.Target
	base, err := url.Parse(t.BaseURL)
	if err != nil {
		return t, runerror.Configf("%s: base_url cannot be parsed", s.Name)
	}
	base.Host = net.JoinHostPort(base.Hostname(), strconv.Itoa(port))
	t.BaseURL = base.String()
	return t, nil
}

// findPorts chooses the ports of the instances. A single one has that of base_url, and
// base_url its: where the file leaves it to us it is a free one, which is reserved until the system is closed, and otherwise it must be
// free, or doubletap would test another program. Of several, base_url is the balancer's. A
// program that knows no reservation may take a free port before it is used; the start of the process
// then fails.
func (s *System) findPorts() ([]int, error) {
	base, err := url.Parse(s.Target.BaseURL)
	if err != nil {
		return nil, runerror.Configf("%s: base_url cannot be parsed", s.Name)
	}
	var all []int
	taken := 0
	if base.Port() != "0" {
		if taken, err = s.freePort(); err != nil {
			return nil, err
		}
		if s.Instances() == 1 {
			all = append(all, taken)
		}
	}
	for len(all) < s.Instances() {
		port, err := ports.Reserve(base.Hostname())
		if err != nil {
			return nil, runerror.Environment(err)
		}
		s.onClose(port.Release)
		if port.Number != taken {
			all = append(all, port.Number)
		}
	}
	if len(all) == 1 {
		s.Target, err = s.at(all[0])
	}
	return all, err
}

// findAddresses finds where the instances are of a target that is there already, if it has several addresses.
func findAddresses(s *System) error {
	for _, name := range s.Target.InstanceNames() {
		itself := s.Target.At(name)
		address, err := addressOf(itself.BaseURL)
		if err != nil {
			return runerror.Configf("%s: instances.%s cannot be parsed", s.Name, name)
		}
		s.Process.each, s.Process.Places = append(s.Process.each, itself), append(s.Process.Places, address)
	}
	return nil
}

// Addresses are the instances of a target with several addresses, in the order of Process.Places, as targets of their own; none: it has
// one, or its instances were started.
func Addresses(s *System) []targets.Target {
	if len(s.Target.Instances) == 0 {
		return nil
	}
	return s.Process.each
}

// Replica is the database of an instance that has one of its own.
type Replica struct {
	Instance string // its name
	Rows     *snapshots.Reader
}

// connectReplicas opens the databases of instances that have one of their own. That of database.url is open already.
func connectReplicas(ctx context.Context, s *System) error {
	for _, name := range s.Target.InstanceNames() {
		place := s.Target.Instances[name].Database
		if place == "" || place == s.Target.Database.URL {
			continue
		}
		rows, err := snapshots.Open(ctx, place)
		if err != nil {
			return runerror.Environment(fmt.Errorf("%s: instances.%s.database: %w", s.Name, name, err))
		}
		s.onClose(rows.Close)
		s.Replicas = append(s.Replicas, Replica{name, rows})
	}
	return nil
}

// freePort is the port of base_url, which must be free.
func (s *System) freePort() (int, error) {
	address, err := s.Upstream()
	if err != nil {
		return 0, err
	}
	if services.Taken(address) {
		return 0, runerror.Environment(fmt.Errorf("%s is in use already, where the process of %s is to listen: stop that program, or give base_url port 0 for a free one", address, s.Name))
	}
	_, port, _ := net.SplitHostPort(address)
	return strconv.Atoi(port)
}

// balance listens at base_url for the instances at these ports, if they are several.
func (s *System) balance(ctx context.Context, ports []int) error {
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
		s.Process.each, places = append(s.Process.each, itself), append(places, address)
	}
	listen, err := s.Upstream()
	if err != nil {
		return err
	}
	balancer, err := proxy.OpenBalancer(ctx, listen, places)
	if err != nil {
		return runerror.Environment(fmt.Errorf("%s: %w", s.Name, err))
	}
	s.onClose(balancer.Close)
	s.Process.Places = places
	s.Target, err = s.at(balancer.Port())
	return err
}

// Received is how many requests the target says it has received: the sum over all of its
// instances. Each question waits for the pace, as it counts against a rate limit.
func (s *System) Received(ctx context.Context, pace *driver.Pace) (int64, error) {
	all := s.Process.each
	if len(all) == 0 {
		all = []targets.Target{s.Target}
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

// logOf is where an instance prints: the lines of several say whose they are.
func (s *System) logOf(i int) io.Writer {
	if s.Instances() < 2 {
		return s.Process.log
	}
	return prefixed{to: s.Process.log, prefix: fmt.Sprintf("instance %d: ", i+1)}
}

// prefixed begins each piece that is written with a word.
type prefixed struct {
	to     io.Writer
	prefix string
}

// Write counts only what it was given, as io.Writer asks for.
func (p prefixed) Write(b []byte) (int, error) {
	n, err := p.to.Write(append([]byte(p.prefix), b...))
	return max(0, n-len(p.prefix)), err
}
