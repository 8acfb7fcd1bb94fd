package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/doubletap-harness/doubletap/sut"
)

// company is the scenarios that are being played: one, or some beside each other. What
// happens to the target happens to all of them, so the death of a process goes into each
// history. The zero value has no members. Safe for concurrent use.
type company struct {
	changing sync.Mutex // held while a scenario joins or leaves
	lock     sync.Mutex
	of       []*scenarioRun
	stop     func() // ends the look at the target's processes; nil: there is none
}

// join makes a scenario one of those that are played.
func (c *company) join(ctx context.Context, r *scenarioRun) {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.set(append(c.members(), r))
	r.session.System.Process.Learn(c.secrets)
	if c.stop == nil && !r.pilot { // a target that a plain create kills cannot be tested: the pilot starts none again
		c.stop = r.session.System.Process.Fleet.Tend(context.WithoutCancel(ctx), c.died)
	}
}

// leave takes a scenario out that is over, after a last look at the target's processes. Leaving again does nothing.
func (c *company) leave(ctx context.Context, r *scenarioRun) {
	c.changing.Lock()
	defer c.changing.Unlock()
	if c.stop != nil && slices.Contains(c.members(), r) {
		c.stop()
		c.stop = nil
	}
	left := slices.DeleteFunc(c.members(), func(other *scenarioRun) bool { return other == r })
	c.set(left)
	if c.stop == nil && len(left) > 0 {
		c.stop = r.session.System.Process.Fleet.Tend(context.WithoutCancel(ctx), c.died)
	}
}

// set replaces the members. Changing is held, lock only while the slice is replaced: a
// death is told while members come and go.
func (c *company) set(all []*scenarioRun) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.of = all
}

// members returns a copy of the list.
func (c *company) members() []*scenarioRun {
	c.lock.Lock()
	defer c.lock.Unlock()
	return slices.Clone(c.of)
}

// heldUp reports that another scenario has the target at work on a request for a while, and longer than on a plain create: its work may hold
// a lock that all others wait for.
func (c *company) heldUp(r *scenarioRun) bool {
	long := max(longInside, longerInside*r.session.normal)
	return slices.ContainsFunc(c.members(), func(other *scenarioRun) bool {
		return other != r && other.lanes.LongestInside() >= long
	})
}

// died tells of a process that has ended by itself.
func (c *company) died(d sut.Death) {
	for _, r := range c.members() {
		r.died(d)
	}
}

// secrets are those that are known by now.
func (c *company) secrets() []string {
	var all []string
	for _, r := range c.members() {
		all = append(all, r.sender.Secrets()...)
	}
	return all
}
