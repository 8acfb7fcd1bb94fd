package document

import (
	"errors"
	"strings"
	"time"
)

// ErrDuration is the error for a text that is no duration. It does not repeat the text.
var ErrDuration = errors.New("expected a duration such as 300ms, from 0s to 2562047h")

// ParseDuration reads a duration in Go's syntax that is not negative.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		return 0, ErrDuration
	}
	return d, nil
}
