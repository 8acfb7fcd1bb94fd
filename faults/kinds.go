package faults

import (
	"reflect"
	"strings"
)

// Kind is one kind of fault, as files and docs name it.
type Kind struct {
	Name     string // key in a file
	Sentence string // what it does
	Fields   []string
	Slows    bool // it only slows: a link inside the target may have it
}

// Kinds returns all kinds of faults, in the order of the members of [Fault].
func Kinds() []Kind {
	kinds := []Kind{
		{Name: "latency", Sentence: "Bytes are delayed, give or take a jitter.", Slows: true},
		{Name: "bandwidth", Sentence: "The flow is limited.", Slows: true},
		{Name: "withhold", Sentence: "Every byte of the answer is kept from the client, and the client's leaving from the target."},
		{Name: "hang-up", Sentence: "Both sides are closed so long after the connection began; the target notices that the client is gone."},
		{Name: "cut", Sentence: "The answer breaks off: with a reset at its first byte, or cleanly after so many bytes of it."},
		{Name: "lose", Sentence: "A message is lost, and with it the connection: the request never arrives, or the response was sent."},
		{Name: "slow-close", Sentence: "A closed connection stays open for the other side for a while."},
		{Name: "slice", Sentence: "Bytes arrive in small pieces.", Slows: true},
		{Name: "toxic", Sentence: "Any toxic of toxiproxy by its own name and attributes, always at toxicity 1."},
	}
	members := reflect.TypeFor[Fault]()
	for i := range kinds {
		kinds[i].Fields = fieldsOf(members.Field(i).Type)
	}
	return kinds
}

// Names returns the kinds that a fault is of. A valid fault is of exactly one.
func (f Fault) Names() []string {
	var names []string
	members := reflect.ValueOf(f)
	for i, kind := range Kinds() {
		if !members.Field(i).IsZero() {
			names = append(names, kind.Name)
		}
	}
	return names
}

// fieldsOf returns the keys of the struct that a member points to.
func fieldsOf(member reflect.Type) []string {
	if member.Kind() != reflect.Pointer {
		return nil
	}
	var names []string
	for i := range member.Elem().NumField() {
		names = append(names, keyOf(member.Elem().Field(i)))
	}
	return names
}

// keyOf returns the key of a field in a file.
func keyOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	return name
}
