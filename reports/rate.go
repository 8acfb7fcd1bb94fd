package reports

import "math"

// Wilson returns the 95 % score interval of a rate of which k of n tries were seen (E. B. Wilson, 1927).
// Without a try it is 0 to 1.
func Wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963984540054
	p, size := float64(k)/float64(n), float64(n)
	middle := p + z*z/(2*size)
	spread := z * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	scale := 1 + z*z/size
	return max(0, (middle-spread)/scale), min(1, (middle+spread)/scale)
}
