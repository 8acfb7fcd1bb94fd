package reports

import (
	"cmp"
	"math"
	"slices"
)

// Fisher returns the two-sided p value of Fisher's exact test (R. A. Fisher, 1934) for k of n tries
// against l of m: how likely a split of the same total is that is no likelier than this one, if both
// have the same rate. This is the sum over the tables of at most the observed probability, as R and
// SciPy have it.
func Fisher(k, n, l, m int) float64 {
	hits := k + l
	chance := func(x int) float64 {
		return math.Exp(logChoose(n, x) + logChoose(m, hits-x) - logChoose(n+m, hits))
	}
	const rounding = 1 + 1e-7 // tables as likely as the observed one differ by less
	seen, p := chance(k)*rounding, 0.0
	for x := max(0, hits-m); x <= min(n, hits); x++ {
		if c := chance(x); c <= seen {
			p += c
		}
	}
	return min(p, 1)
}

// logChoose is the logarithm of n over k.
func logChoose(n, k int) float64 {
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

// logFactorial is the logarithm of n!, by the gamma function: n! itself overflows from 171 on.
func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// Holm adjusts p values for having looked so often (S. Holm, 1979): of those that stay under 5 %, in
// at most one of twenty families is there any by luck. The order is that of the values.
func Holm(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	adjusted, least := make([]float64, len(values)), 0.0
	for rank, i := range order {
		least = max(least, min(1, float64(len(values)-rank)*values[i]))
		adjusted[i] = least
	}
	return adjusted
}
