package faults

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// This file has the forms of faults in YAML. It needs no YAML library: those call these methods.

// String returns the duration as it is written in files.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the duration as in files.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a duration such as "300ms".
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || strings.HasPrefix(string(text), "-") || strings.HasPrefix(string(text), "+") {
		return fmt.Errorf("expected a duration such as 300ms, not %q", text)
	}
	*d = Duration(parsed)
	return nil
}

// UnmarshalYAML reads a fault. "withhold" may stand alone.
func (f *Fault) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Fault
	var name string
	if unmarshal(&name) == nil && name == "withhold" {
		f.Withhold = &Withhold{}
		return nil
	}
	if err := unmarshal((*plain)(f)); err != nil {
		return err
	}
	var members map[string]any
	if unmarshal(&members) == nil && len(members) == 1 {
		if value, there := members["withhold"]; there && value == nil {
			f.Withhold = &Withhold{}
		}
	}
	return nil
}

// MarshalYAML writes the shortest form.
func (f Fault) MarshalYAML() (any, error) {
	type plain Fault
	if f.Withhold != nil {
		return "withhold", nil
	}
	return plain(f), nil
}

// short reads a plain value into the one member that matters most, and a mapping into all of them.
func short(unmarshal func(any) error, member, all any) error {
	if err := unmarshal(all); err == nil {
		return nil
	}
	return unmarshal(member)
}

// UnmarshalYAML reads the delay alone, or a mapping.
func (l *Latency) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Latency
	return short(unmarshal, &l.Delay, (*plain)(l))
}

// MarshalYAML writes the shortest form.
func (l Latency) MarshalYAML() (any, error) {
	type plain Latency
	if l == (Latency{Delay: l.Delay}) {
		return l.Delay, nil
	}
	return plain(l), nil
}

// UnmarshalYAML reads the rate alone, or a mapping.
func (b *Bandwidth) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Bandwidth
	return short(unmarshal, &b.Rate, (*plain)(b))
}

// MarshalYAML writes the shortest form.
func (b Bandwidth) MarshalYAML() (any, error) {
	type plain Bandwidth
	if b == (Bandwidth{Rate: b.Rate}) {
		return b.Rate, nil
	}
	return plain(b), nil
}

// UnmarshalYAML reads the time alone, or a mapping.
func (h *HangUp) UnmarshalYAML(unmarshal func(any) error) error {
	type plain HangUp
	return short(unmarshal, &h.After, (*plain)(h))
}

// MarshalYAML writes the shortest form.
func (h HangUp) MarshalYAML() (any, error) { return h.After, nil }

// UnmarshalYAML reads "reset", or a mapping.
func (c *Cut) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Cut
	var word string
	if unmarshal(&word) == nil && word == "reset" {
		c.Reset = true
		return nil
	}
	return unmarshal((*plain)(c))
}

// MarshalYAML writes the shortest form. A cut after no byte at all has to say so.
func (c Cut) MarshalYAML() (any, error) {
	if c.Reset {
		return "reset", nil
	}
	return map[string]int64{"after": c.After}, nil
}

// UnmarshalYAML reads the delay alone, or a mapping.
func (s *SlowClose) UnmarshalYAML(unmarshal func(any) error) error {
	type plain SlowClose
	return short(unmarshal, &s.Delay, (*plain)(s))
}

// MarshalYAML writes the shortest form.
func (s SlowClose) MarshalYAML() (any, error) {
	type plain SlowClose
	if s == (SlowClose{Delay: s.Delay}) {
		return s.Delay, nil
	}
	return plain(s), nil
}

// UnmarshalYAML reads the size alone, or a mapping.
func (s *Slice) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Slice
	return short(unmarshal, &s.Size, (*plain)(s))
}

// MarshalYAML writes the shortest form.
func (s Slice) MarshalYAML() (any, error) {
	type plain Slice
	if s == (Slice{Size: s.Size}) {
		return s.Size, nil
	}
	return plain(s), nil
}

// String returns the fault in the words of a file, such as "latency: 100ms".
func (f Fault) String() string {
	if f.Withhold != nil {
		return "withhold"
	}
	return membersOf(reflect.ValueOf(f))
}

// membersOf writes what is set in a struct, in one line.
func membersOf(v reflect.Value) string {
	var all []string
	for i := range v.NumField() {
		if value := v.Field(i); !value.IsZero() {
			all = append(all, keyOf(v.Type().Field(i))+": "+inOneLine(value))
		}
	}
	return strings.Join(all, ", ")
}

// inOneLine writes a value as YAML in flow style.
func inOneLine(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if short, ok := v.Interface().(interface{ MarshalYAML() (any, error) }); ok {
		value, _ := short.MarshalYAML() // never fails
		v = reflect.ValueOf(value)
	}
	switch v.Kind() {
	case reflect.Struct:
		return "{" + membersOf(v) + "}"
	case reflect.Map:
		var all []string
		for _, key := range sortedKeys(v) {
			all = append(all, key.String()+": "+inOneLine(v.MapIndex(key)))
		}
		return "{" + strings.Join(all, ", ") + "}"
	default:
		return fmt.Sprint(v.Interface())
	}
}

// sortedKeys are the keys in their order, so that one message has one text.
func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	return keys
}
