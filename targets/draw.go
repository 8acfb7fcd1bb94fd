package targets

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"text/template"
	"time"
)

// Draws is what the functions of templates draw from. The zero value draws as well: always the same.
type Draws struct {
	Plan string    // one for each body of a plan: what random, pick and fake give
	Run  string    // one for each body of a run: what unique gives
	Now  time.Time // what now is
}

// Drawn is what functions gave that is another thing in another run.
type Drawn struct {
	Unique map[string]UniqueKind // by the part that is drawn
	Dated  bool                  // now was asked for
	Chance bool                  // random, pick or fake was asked for
}

// UniqueKind says what unique gives.
type UniqueKind string

// The kinds.
const (
	UniqueText   UniqueKind = "text"   // 16 letters and digits, lower case
	UniqueEmail  UniqueKind = "email"  // such a text at a reserved domain (RFC 2606)
	UniqueNumber UniqueKind = "number" // 15 digits, which fits into a number of JSON
	UniqueInt    UniqueKind = "int"    // 9 digits, which fits into 32 bits
	UniqueUUID   UniqueKind = "uuid"   // version 4 (RFC 9562)
	UniqueTime   UniqueKind = "time"   // of days to come, in a layout
)

// uniqueKinds lists the kinds of unique, for messages.
func uniqueKinds() []string {
	return []string{string(UniqueText), string(UniqueEmail), string(UniqueNumber), string(UniqueInt), string(UniqueUUID), string(UniqueTime)}
}

// toJSON is the name of the function that makes a value of a text.
const toJSON = "json"

// Drawing returns the values with what the functions of templates draw from.
func (v Values) Drawing(d Draws) Values {
	v.drawing.Draws = d
	return v
}

// At returns the values for a place in a request, or for one request of several: the same function draws
// another thing in another place.
func (v Values) At(place string) Values {
	v.drawing.place += "/" + place
	return v
}

// drawing is what the functions of one text draw from.
type drawing struct {
	Draws
	place string

	attempt     string // that is rendered; empty: an intent
	attemptTime time.Time

	calls  int    // of functions so far, in this text
	values int    // of those of json
	drawn  *Drawn // nil: no statistics
}

// drawingAnew returns the values with what volatile members draw from.
func (v Values) drawingAnew() Values {
	if id := v.drawing.attempt; id != "" {
		v.drawing.Plan, v.drawing.Run, v.drawing.Now = v.drawing.Plan+"\x00"+id, v.drawing.Run+"\x00"+id, v.drawing.attemptTime
	}
	return v
}

// functions are those that templates have besides Go's own.
func (d *drawing) functions() template.FuncMap {
	return template.FuncMap{
		"unique": d.unique, "random": d.random, "pick": d.pick, "fake": d.fake, "now": d.now, toJSON: d.json,
	}
}

// functionNames returns the functions that templates have besides those of Go.
func functionNames() []string { return slices.Sorted(maps.Keys(new(drawing).functions())) }

// sum is different for every source, place and call, and the same whenever they are. So two
// templates of one body never draw alike, and one that is rendered again for a retry draws what it
// drew before.
func (d *drawing) sum(source string) [sha256.Size]byte {
	d.calls++
	return sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", source, d.place, d.calls))
}

// Letters returns 16 letters and digits of a sum, lower case.
func Letters(sum [sha256.Size]byte) string {
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// UUID returns a UUID of a sum, in the form of version 4 (RFC 9562).
func UUID(sum [sha256.Size]byte) string {
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// chance is the source of what the plan decides.
func (d *drawing) chance() *rand.PCG {
	if d.drawn != nil {
		d.drawn.Chance = true
	}
	sum := d.sum(d.Plan)
	return rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16]))
}

// unique gives a text that no other body of any run has. It is drawn from the run, and not from
// the plan: the same plan can be sent again to a database that still has the rows of the last
// time. Only a time takes arguments: its layout, and how long after the one moment of the body it is.
func (d *drawing) unique(name string, layout ...string) (string, error) {
	sum, kind := d.sum(d.Run), UniqueKind(name)
	if len(layout) > 0 && kind != UniqueTime {
		return "", fmt.Errorf("unique takes a layout for %q only, got one for %q", UniqueTime, name)
	}
	var drawn string
	switch kind {
	case UniqueTime:
		if len(layout) == 2 {
			return d.uniqueSpan(layout[0], layout[1])
		}
		return d.uniqueTime(sum, layout)
	case UniqueText, UniqueEmail:
		drawn = Letters(sum)
	case UniqueNumber:
		const lowest, count = 100_000_000_000_000, 900_000_000_000_000
		drawn = fmt.Sprint(lowest + binary.LittleEndian.Uint64(sum[:8])%count)
	case UniqueInt:
		drawn = NineDigits(sum)
	case UniqueUUID:
		drawn = UUID(sum)
	default:
		known := uniqueKinds()
		return "", fmt.Errorf("unique does not know %q%s there are %s", name, suggestion(name, known), list(known))
	}
	if d.drawn != nil {
		if d.drawn.Unique == nil {
			d.drawn.Unique = map[string]UniqueKind{}
		}
		d.drawn.Unique[drawn] = kind
	}
	if kind == UniqueEmail {
		drawn += "@example.com"
	}
	return drawn, nil
}

// NineDigits makes a whole number of nine digits of a sum, which fits into 32 bits.
func NineDigits(sum [sha256.Size]byte) string {
	const lowest, count = 100_000_000, 900_000_000
	return fmt.Sprint(lowest + binary.LittleEndian.Uint64(sum[:8])%count)
}

// uniqueTime gives a time after the present day: of the next ten years, as columns of seconds in 32 bits hold no more, or of all years that
// have four digits where the layout tells no seconds, and so has fewer times.
func (d *drawing) uniqueTime(sum [sha256.Size]byte, layouts []string) (string, error) {
	if d.drawn != nil {
		d.drawn.Dated = true
	}
	layout := time.RFC3339
	if len(layouts) > 1 {
		return "", fmt.Errorf("unique takes a layout and how long after the moment of the body the time is, got %d texts", len(layouts))
	}
	if len(layouts) > 0 {
		layout = layouts[0]
	}
	if !tellsTime(layout) {
		return "", errNoLayout(layout)
	}
	tomorrow := d.Now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	last := tomorrow.AddDate(10, 0, 0)
	if tomorrow.Format(layout) == tomorrow.Add(time.Second).Format(layout) {
		last = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	after := binary.LittleEndian.Uint64(sum[:8]) % uint64(last.Unix()-tomorrow.Unix())
	return time.Unix(tomorrow.Unix()+int64(after), 0).UTC().Format(layout), nil
}

// uniqueSpan gives a time that is so long after the one moment of the body: so a start and an end keep their distance. Two spans must not meet, so
// the moment is of all years that have four digits.
func (d *drawing) uniqueSpan(layout, after string) (string, error) {
	if d.drawn != nil {
		d.drawn.Dated = true
	}
	distance, err := time.ParseDuration(after)
	if err != nil || distance < 0 {
		return "", fmt.Errorf("unique takes how long after the moment of the body a time is, such as 1h30m, got %q", after)
	}
	if !tellsTime(layout) {
		return "", errNoLayout(layout)
	}
	tomorrow := d.Now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	sum := sha256.Sum256([]byte(d.Run + "\x00moment"))
	minutes := binary.LittleEndian.Uint64(sum[:8]) % uint64((time.Date(9990, 1, 1, 0, 0, 0, 0, time.UTC).Unix()-tomorrow.Unix())/60)
	return time.Unix(tomorrow.Unix()+int64(minutes)*60, 0).UTC().Add(distance).Format(layout), nil
}

// errNoLayout says that a text is no layout of a time.
func errNoLayout(layout string) error {
	return fmt.Errorf("unique takes a layout that is written with Go's reference time, such as 2006-01-02T15:04:05Z, got %q", layout)
}

// tellsTime reports that a text is a layout of Go's package time: no part of the time that is written in it reads as the same part of a layout.
func tellsTime(layout string) bool {
	return time.Date(1999, 11, 28, 23, 59, 58, 987654321, time.FixedZone("XST", 20700)).Format(layout) != layout
}

// random gives a whole number from a range, both ends included. It is drawn from the plan, so that
// the same seed sends the same numbers.
func (d *drawing) random(from, to int64) (int64, error) {
	if from > to {
		return 0, fmt.Errorf("random takes the smaller number first, got %d and %d", from, to)
	}
	count := uint64(to-from) + 1
	if count == 0 { // all there are
		return int64(d.chance().Uint64()), nil
	}
	return from + int64(rand.New(d.chance()).Uint64N(count)), nil
}

// pick gives one of its arguments, drawn from the plan.
func (d *drawing) pick(choices ...any) (any, error) {
	if len(choices) == 0 {
		return nil, errors.New("pick takes what there is to choose from, got nothing")
	}
	return choices[rand.New(d.chance()).IntN(len(choices))], nil
}

// now takes a layout of Go's package time and an offset.
func (d *drawing) now(arguments ...string) (string, error) {
	if d.drawn != nil {
		d.drawn.Dated = true
	}
	layout, when := time.RFC3339, d.Now.UTC()
	if len(arguments) > 2 {
		return "", fmt.Errorf("now takes a layout and an offset, got %d arguments", len(arguments))
	}
	if len(arguments) > 0 {
		layout = arguments[0]
	}
	if !tellsTime(layout) {
		return "", fmt.Errorf("now takes a layout that is written with Go's reference time, such as 2006-01-02T15:04:05Z, got %q", layout)
	}
	if len(arguments) == 2 {
		offset, err := time.ParseDuration(arguments[1])
		if err != nil {
			return "", fmt.Errorf("now takes an offset such as 24h or -30m, got %q", arguments[1])
		}
		when = when.Add(offset)
	}
	return when.Format(layout), nil
}

// json returns a value as JSON. A text that is JSON, such as a number that an answer gave, stays as it is.
func (d *drawing) json(value any) (string, error) {
	d.values++
	if text, isText := value.(string); isText && json.Valid([]byte(text)) {
		return text, nil
	}
	written, err := encode(value)
	return string(written), err
}
