package shrink

import "math"

// sequential is Wald's sequential probability ratio test (A. Wald, 1945): it goes on until it knows, with
// errors of 5 % each, whether a rate is at least good or at most bad. The zero value is of no use.
type sequential struct {
	good, bad float64 // rates, 0 < bad < good < 1
	k, n      int     // so far
}

// surely is the score at which an error of 5 % is left.
var surely = math.Log(0.95 / 0.05)

// likely is as near to a rate of 1 as the test looks.
const likely = 0.95

// keeps starts the test whether a rate is still most of what it was.
func keeps(rate float64) sequential {
	good := 0.8 * min(rate, likely)
	return sequential{good: good, bad: good / 2}
}

// add adds k of n tries.
func (s *sequential) add(k, n int) { s.k, s.n = s.k+k, s.n+n }

// score is the logarithm of how much more likely what was seen is at the good rate than at the bad one.
func (s *sequential) score() float64 {
	seen, unseen := float64(s.k), float64(s.n-s.k)
	return seen*math.Log(s.good/s.bad) + unseen*math.Log((1-s.good)/(1-s.bad))
}

// decided reports whether the test has come to its end, and whether the rate is good.
func (s *sequential) decided() (good, done bool) {
	score := s.score()
	return score >= surely, math.Abs(score) >= surely
}
