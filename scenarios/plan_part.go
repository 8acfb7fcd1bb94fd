package scenarios

import (
	"fmt"
	"slices"
	"time"
)

// Only returns the part of the plan with the intents of these numbers, their twins and neighbours, and the background
// traffic, in the plan's order. It returns the whole plan for an intent of the background: that one ran beside all others.
func (p Plan) Only(numbers []int) Plan {
	wanted := map[int]bool{}
	for _, n := range numbers {
		wanted[n] = true
	}
	groups := map[int]bool{}
	for _, i := range p.Intents {
		if wanted[i.Number] && i.Background {
			return p
		}
		if wanted[i.Number] {
			groups[i.group()] = true
		}
	}
	part := p
	part.Intents = nil
	for _, i := range p.Intents {
		if groups[i.group()] || i.Background {
			part.Intents = append(part.Intents, i)
		}
	}
	return part
}

// Shard is one of several runs that share the intents of every plan. The zero value is the only one.
type Shard struct{ Number, Of int } // from 1 to Of

// Several reports that there is more than one.
func (s Shard) Several() bool { return s.Of > 1 }

// String writes 3/8; empty: it is the only one.
func (s Shard) String() string {
	if !s.Several() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}

// Of returns the part of the plan that falls to a shard: every so many of its groups of twins and neighbours, with the background
// traffic. It has no intents where there are fewer groups than shards.
func (p Plan) Of(s Shard) Plan {
	if !s.Several() {
		return p
	}
	var numbers []int
	groups := map[int]int{}
	for _, i := range p.Intents {
		if i.Background {
			continue
		}
		if _, known := groups[i.group()]; !known {
			groups[i.group()] = len(groups)
		}
		if groups[i.group()]%s.Of == s.Number-1 {
			numbers = append(numbers, i.Number)
		}
	}
	part := p.Only(numbers)
	if len(numbers) == 0 {
		part.Intents = nil
	}
	return part
}

// group is the number of the first intent of a group of twins or neighbours.
func (i PlannedIntent) group() int {
	switch {
	case i.Neighbour != nil:
		return i.Neighbour.First
	case i.Twin != 0:
		return i.Twin
	default:
		return i.Number
	}
}

// Spread returns about n of the plan's intents, from all over it, in whole groups of twins and
// neighbours, with the background traffic: moments that move from intent to intent still go
// through their range, and what changes every two or three intents still changes. For that it
// takes groups at a stride that has no divisor in common with their number or with 6. It returns
// the whole plan where that has no more.
func (p Plan) Spread(n int) Plan {
	var firsts []int
	for _, i := range p.Intents {
		if g := i.group(); !i.Background && !slices.Contains(firsts, g) {
			firsts = append(firsts, g)
		}
	}
	whole := slices.DeleteFunc(slices.Clone(p.Intents), func(i PlannedIntent) bool { return i.Background })
	if n >= len(whole) || len(firsts) == 0 {
		return p
	}
	groups := max(1, n*len(firsts)/len(whole))
	stride := max(1, len(firsts)/groups)
	for gcd(stride, 6*len(firsts)) != 1 {
		stride++
	}
	var numbers []int
	for k := range groups {
		numbers = append(numbers, firsts[k*stride%len(firsts)])
	}
	part := p.Only(numbers)
	part.Whole = max(p.Whole, len(whole))
	return part
}

// WithBackground returns the plan with at most so many intents of background traffic, at no higher a rate than has them all begin within
// a time: more than a slow target can do would keep it from all else.
func (p Plan) WithBackground(most int, within time.Duration) Plan {
	part, n := p, 0
	part.Intents = slices.DeleteFunc(slices.Clone(p.Intents), func(i PlannedIntent) bool {
		if i.Background {
			n++
		}
		return i.Background && n > most
	})
	if n > most {
		part.Background = min(p.Background, float64(most)/within.Seconds())
	}
	return part
}

// gcd is the greatest common divisor (Euclid's algorithm).
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
