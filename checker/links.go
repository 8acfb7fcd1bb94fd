package checker

import (
	"sort"

	"github.com/doubletap-harness/doubletap/history"
)

// linkDelayed reports that a link which was slow had a question to carry, and its answer, while a request
// was inside the target, and that this took as long as the link's latency at least.
func (c *court) linkDelayed(a *judged) bool {
	begin, end, known := c.inside(a)
	if !known {
		return false
	}
	for _, t := range c.history.Traffic {
		delay := c.link(t.Link).Delay
		if delay == 0 {
			continue
		}
		passed := t.Exchanges // in the order of the answers
		first := sort.Search(len(passed), func(i int) bool { return passed[i].Answered >= begin })
		for _, e := range passed[first:] {
			if e.Answered > end {
				break
			}
			if e.Asked >= begin && e.Answered-e.Asked >= delay {
				return true
			}
		}
	}
	return false
}

// linkCut reports that a link broke, with at least one connection on it, after a request had come to the
// target and before it was answered.
func (c *court) linkCut(a *judged) bool {
	if a.Cut == nil || a.Cut.At == 0 || a.Cut.Connections == 0 {
		return false
	}
	begin, end, known := c.inside(a)
	if !known && a.Passage == nil && c.lane(a.Lane).Delay == 0 {
		begin, end = a.Wrote, a.End // nobody saw it come; the client's times have to do
	}
	return begin != 0 && end != 0 && begin <= a.Cut.At && a.Cut.At <= end
}

func (c *court) link(name string) history.Link {
	for _, l := range c.history.Run.Links {
		if l.Name == name {
			return l
		}
	}
	return history.Link{}
}
