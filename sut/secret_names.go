package sut

import "regexp"

// Names that speak for a secret. There are three lists, because a name that is taken for
// one by mistake costs something else in each place.
var (
	// surelySecret matches names of members, headers and parameters of a step whose text an
	// export replaces by an environment variable. It is narrow: whoever plays the export has
	// to set each of these variables.
	surelySecret = regexp.MustCompile(`(?i)auth|cookie|token|secret|passw|pwd|session|credential|csrf|api_?key|\bpin\b`)

	// perhapsSecret matches names of members, headers and parameters for which a target file
	// is left out of what a run keeps. It is wide: a missing file is a nuisance, a leak is not.
	perhapsSecret = regexp.MustCompile(`(?i)auth|cookie|token|secret|pass|pwd|key|session|cred|csrf|code|\bpin\b`)

	// secretVariable matches names of environment variables of the target's process for which
	// the file is left out. Names of settings, such as AUTH_MODE or SESSION_TTL, are no secrets.
	secretVariable = regexp.MustCompile(`(?i)secret|token|passw|credential|api_?key|private`)
)
