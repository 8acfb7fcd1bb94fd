package checker

import (
	"fmt"
	"slices"
)

var verdictNames = [...]string{
	Inconclusive: "inconclusive", Pass: "pass", Fail: "fail", NotApplicable: "not-applicable", Broken: "broken",
	Known: "known", Mended: "mended",
}

// String returns the verdict's name, as it stands in files.
func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdictNames) {
		return fmt.Sprintf("verdict(%d)", int(v))
	}
	return verdictNames[v]
}

// MarshalText writes the name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the name; an unknown one is an error and leaves the verdict inconclusive.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictNames[:], string(text))
	if i < 0 {
		*v = Inconclusive
		return fmt.Errorf("unknown verdict %q", text)
	}
	*v = Verdict(i)
	return nil
}

var outcomeNames = [...]string{
	Unknown: "unknown", Acknowledged: "acknowledged", Exists: "exists", Rejected: "rejected",
	InProgress: "in-progress", Throttled: "throttled", NotSent: "not-sent", Accepted: "accepted",
}

// String returns the outcome's name, as it stands in files.
func (o Outcome) String() string {
	if o < 0 || int(o) >= len(outcomeNames) {
		return fmt.Sprintf("outcome(%d)", int(o))
	}
	return outcomeNames[o]
}

// MarshalText writes the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the name; an unknown one is an error and leaves the outcome unknown.
func (o *Outcome) UnmarshalText(text []byte) error {
	i := slices.Index(outcomeNames[:], string(text))
	if i < 0 {
		*o = Unknown
		return fmt.Errorf("unknown outcome %q", text)
	}
	*o = Outcome(i)
	return nil
}
