package engine

import "math"

// Rounds is how many rounds without a finding it takes to say with 95 % confidence that less than a share of them, 0 to 1, breaks:
// by the rule of three, 3/k is the upper end of the interval of a rate of which nothing was seen in k tries.
func Rounds(share float64) int { return int(math.Ceil(3/share - 1e-9)) }
