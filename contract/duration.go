package contract

import (
	"errors"
	"strings"
	"time"
)

// Duration is a time.Duration that is written as "300ms" in files. The zero value is 0s.
type Duration time.Duration

// String returns the duration as it is written in files.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the duration as in files.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a duration such as "300ms". The error is a *DurationError.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// ErrDuration is matched by the errors of [ParseDuration].
var ErrDuration = errors.New("expected a duration such as 300ms, from 0s to 2562047h")

// DurationError is the error for a text that is no duration. Its message does not repeat the text, which
// may have come from a variable that is secret.
type DurationError struct {
	text string
}

// Error says what was expected.
func (e *DurationError) Error() string { return ErrDuration.Error() }

// Unwrap returns [ErrDuration].
func (e *DurationError) Unwrap() error { return ErrDuration }

// Value returns the text, for whoever has to find its place in a file.
func (e *DurationError) Value() string { return e.text }

// ParseDuration reads a duration in Go's syntax that is not negative.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		return 0, &DurationError{text: text}
	}
	return d, nil
}
