// Package runerror tells the kinds of errors of a run apart: those that the user mends in a file or on the
// command line, those of the environment, and limits of the target. Only the command turns them into exit codes.
package runerror

import (
	"errors"
	"fmt"
	"io/fs"
)

// ConfigError is a mistake in a file, a flag or an option: the user corrects it and runs again.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

func (e *ConfigError) Unwrap() error { return e.Err }

func (e *ConfigError) isConfig() bool { return true }

// EnvironmentError is a failure of what surrounds a run: target or database unreachable, disk full, or
// doubletap itself.
type EnvironmentError struct{ Err error }

func (e *EnvironmentError) Error() string { return e.Err.Error() }

func (e *EnvironmentError) Unwrap() error { return e.Err }

func (e *EnvironmentError) isConfig() bool { return false }

// Config marks an error as a [ConfigError]. Nil stays nil.
func Config(err error) error {
	if err == nil {
		return nil
	}
	return &ConfigError{err}
}

// Configf makes a [ConfigError] of a message, as fmt.Errorf does.
func Configf(format string, args ...any) error { return Config(fmt.Errorf(format, args...)) }

// Environment marks an error as an [EnvironmentError]. Nil stays nil.
func Environment(err error) error {
	if err == nil {
		return nil
	}
	return &EnvironmentError{err}
}

// LimitedError is a limit of the target that is used up: nothing is wrong, and nothing could be tried.
type LimitedError struct{ Err error }

func (e *LimitedError) Error() string { return e.Err.Error() }

func (e *LimitedError) Unwrap() error { return e.Err }

func (e *LimitedError) isConfig() bool { return false }

// Limited marks an error as a [LimitedError].
func Limited(err error) error { return &LimitedError{err} }

// IsLimited reports whether a limit of the target is used up.
func IsLimited(err error) bool {
	var limited *LimitedError
	return errors.As(err, &limited)
}

// IsConfig reports whether an error is the user's to correct. The outermost mark decides, and of joined
// errors the first that is marked. An error without a mark is not: a gate must not take an unknown failure
// for a typing mistake.
func IsConfig(err error) bool {
	var marked interface{ isConfig() bool }
	return errors.As(err, &marked) && marked.isConfig()
}

// Unreadable says of a file that cannot be read what it was wanted for.
func Unreadable(what, path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s: %w", what, path, fs.ErrNotExist)
	}
	return fmt.Errorf("read %s: %w", what, err)
}
