package cmd

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// bound is a share of rounds, 0 to 1, that a pass is to stay below with 95 % confidence. Zero is none.
type bound float64

// rounds is how many rounds without a finding it takes: by the rule of three, 3/k is the upper end of
// the 95 % interval of a rate of which nothing was seen in k tries.
func (b bound) rounds() int { return int(math.Ceil(3/float64(b) - 1e-9)) }

// String returns the share in percent.
func (b bound) String() string {
	if b == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(b)*100, 'g', 6, 64) + "%"
}

// Set reads a share such as 1% or 0.01.
func (b *bound) Set(text string) error {
	digits, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(digits, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share < 1) {
		return errors.New("expected a share of rounds such as 1% or 0.01")
	}
	*b = bound(share)
	return nil
}

// Type names the kind of value in the help.
func (b *bound) Type() string { return "share" }
