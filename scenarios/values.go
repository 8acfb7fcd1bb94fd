package scenarios

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/proofs"
)

// errSpan is the mistake of a text that is no span.
var errSpan = errors.New("expected a duration such as 300ms or a share such as 50% (1000% at most)")

// maxShare is the largest share of the normal time, as a factor.
const maxShare = 10

// Of returns the length of the span where a plain create takes normal.
func (s Span) Of(normal time.Duration) time.Duration {
	if s.Share == 0 {
		return s.Fixed
	}
	return time.Duration(s.Share * float64(normal))
}

// surelyLonger reports that a span is longer than another, however long a plain create takes.
func (s Span) surelyLonger(than Span) bool {
	return s.Fixed > than.Fixed && than.Share == 0 || s.Share > than.Share && than.Fixed == 0
}

// IsZero reports whether the span was left out, or is zero.
func (s Span) IsZero() bool { return s == Span{} }

// String returns the span as it is written in files: "300ms" or "50%".
func (s Span) String() string {
	if s.Share == 0 {
		return s.Fixed.String()
	}
	percent := math.Round(s.Share*1e8) / 1e6
	return strconv.FormatFloat(percent, 'f', -1, 64) + "%"
}

// MarshalText writes the span as in files.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a span such as "300ms" or "50%".
func (s *Span) UnmarshalText(text []byte) error {
	*s = Span{}
	if percent, ok := strings.CutSuffix(string(text), "%"); ok {
		share, err := parsePercent(percent)
		if err != nil || share > maxShare {
			return errSpan
		}
		s.Share = share
		return nil
	}
	fixed, err := contract.ParseDuration(string(text))
	if err != nil {
		return errSpan
	}
	s.Fixed = fixed
	return nil
}

// UnmarshalYAML reads a span such as 300ms or 50%.
func (s *Span) UnmarshalYAML(node *yaml.Node) error { return unmarshalText(node, s.UnmarshalText) }

// parsePercent reads the digits of a percentage, as a share of 1. It takes no sign and no
// exponent.
func parsePercent(digits string) (float64, error) {
	if strings.Trim(digits, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	percent, err := strconv.ParseFloat(digits, 64)
	return percent / 100, err
}

// unmarshalText reads a scalar; its errors have the place in the file.
func unmarshalText(node *yaml.Node, read func([]byte) error) error {
	if node.Kind != yaml.ScalarNode {
		return document.Wrong(node, "expected a plain value")
	}
	if err := read([]byte(node.Value)); err != nil {
		return document.Wrong(node, "%s", err)
	}
	return nil
}

// UnmarshalYAML reads a proof by its name alone, or with the share that it needs.
func (p *Proof) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&p.Name)
	}
	var long struct {
		Name    proofs.Name `yaml:"proof"`
		AtLeast share       `yaml:"at_least"`
	}
	err := node.Decode(&long)
	p.Name, p.AtLeast = long.Name, float64(long.AtLeast)
	return err
}

// MarshalYAML writes the name alone where the share is the usual one.
func (p Proof) MarshalYAML() (any, error) {
	if p.AtLeast == 0 || p.AtLeast == usualShare {
		return p.Name, nil
	}
	type plain Proof
	return plain(p), nil
}

// share is a part of 1 that may be written as a percentage.
type share float64

// UnmarshalYAML reads a share such as 0.8 or 80%.
func (s *share) UnmarshalYAML(node *yaml.Node) error {
	percent, ok := strings.CutSuffix(node.Value, "%")
	if !ok {
		return node.Decode((*float64)(s))
	}
	part, err := parsePercent(percent)
	if err != nil || part > 1 {
		return document.Wrong(node, "expected a share such as 0.8 or 80%%")
	}
	*s = share(part)
	return nil
}

// UnmarshalYAML reads "committed", "expired", the length of a pause, or a mapping.
func (w *Wait) UnmarshalYAML(node *yaml.Node) error {
	type plain Wait
	switch {
	case node.Kind != yaml.ScalarNode:
		return node.Decode((*plain)(w))
	case node.Value == string(WaitCommitted) || node.Value == string(WaitExpired):
		w.For = WaitFor(node.Value)
		return nil
	}
	return node.Decode(&w.Pause)
}

// MarshalYAML writes the shortest form.
func (w Wait) MarshalYAML() (any, error) {
	type plain Wait
	switch {
	case w.For == WaitPause && w.Within.IsZero():
		return w.Pause, nil
	case w.For != WaitPause && w.Within.IsZero() && w.Pauses == nil:
		return string(w.For), nil
	}
	return plain(w), nil
}

// UnmarshalYAML reads a step. "send", "sweep", "crash", "alter", "invalid", "respell" and "look" may stand
// alone.
func (s *Step) UnmarshalYAML(node *yaml.Node) error {
	type plain Step
	bare := node.Value
	if node.Kind != yaml.ScalarNode {
		if err := node.Decode((*plain)(s)); err != nil {
			return err
		}
		bare = emptyMember(node)
	}
	switch bare {
	case "send":
		s.Send = &Send{}
	case "sweep":
		s.Sweep = &Sweep{}
	case "crash":
		s.Crash = &Crash{}
	case "alter":
		s.Alter = &Send{}
	case "invalid":
		s.Invalid = &Send{}
	case "respell":
		s.Respell = &Respell{}
	case "look":
		s.Look = &Look{}
	case "remove":
		s.Remove = &Remove{}
	}
	return nil
}

// emptyMember returns the key without a value of a mapping that has no other, such as "send:".
func emptyMember(node *yaml.Node) string {
	if node.Kind == yaml.MappingNode && len(node.Content) == 2 && node.Content[1].ShortTag() == "!!null" {
		return node.Content[0].Value
	}
	return ""
}
