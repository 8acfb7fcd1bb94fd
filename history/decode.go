package history

import (
	"encoding/json"
	"strconv"

	"github.com/doubletap-harness/doubletap/internal/lightjson"
)

// slots hold what the last line said, of the kinds that whoever reads it copies.
type slots struct {
	attempt Attempt
	passage passageOf
}

// record reads a line. What it points to may change with the next one.
func (s *slots) record(line string) (record, error) {
	if r, known := s.common(line); known {
		return r, nil
	}
	return recordOfAny(line)
}

// recordOfAny reads a line however it is written.
func recordOfAny(line string) (record, error) {
	var r record
	err := json.Unmarshal([]byte(line), &r)
	return r, err
}

// recordIn reads a line.
func recordIn(line string) (record, error) { return new(slots).record(line) }

// common reads a line of the kinds of which there is one for each intent or attempt: they are nearly all of a long history, and
// reading them with encoding/json takes most of the time. It reports whether it read the line; of one that it did not, it says
// nothing. Of a line that it read, encoding/json makes the same record.
func (s *slots) common(line string) (record, bool) {
	var r record
	t := lightjson.Of(line)
	t.Open('{')
	if !t.More('}') {
		return record{}, false
	}
	switch t.Name() {
	case "begun":
		r.Begun = &s.attempt
		attemptIn(&t, r.Begun)
	case "attempt":
		r.Attempt = &s.attempt
		attemptIn(&t, r.Attempt)
	case "passage":
		r.Passage = &s.passage
		passageIn(&t, r.Passage)
	case "intent":
		r.Intent = intentIn(&t)
	case "sighting":
		r.Sighting = sightingIn(&t)
	case "snapshot":
		r.Snapshot = snapshotIn(&t)
	default:
		return record{}, false
	}
	if t.More('}') || !t.Whole() {
		return record{}, false
	}
	return r, true
}

// attemptIn and the functions below read one kind of line each, field by field. A field
// that comes twice, or is not known, makes the reader refuse the line, which encoding/json
// then reads: so a newer file is still read, only slower. A field that is added to a
// struct has to be added here; a fuzz test holds the two readers against each other.
func attemptIn(t *lightjson.Text, a *Attempt) {
	*a = Attempt{}
	var seen lightjson.Fields
	for t.Open('{'); t.More('}'); {
		switch t.Name() {
		case "id":
			seen.Once(t, 0)
			a.ID = t.String()
		case "intent":
			seen.Once(t, 1)
			a.Intent = t.String()
		case "step":
			seen.Once(t, 2)
			a.Step = int(t.Int())
		case "retry":
			seen.Once(t, 3)
			a.Retry = int(t.Int())
		case "probe":
			seen.Once(t, 4)
			a.Probe = t.Bool()
		case "lane":
			seen.Once(t, 5)
			a.Lane = t.String()
		case "instance":
			seen.Once(t, 6)
			a.Instance = int(t.Int())
		case "body":
			seen.Once(t, 7)
			a.Body = t.String()
		case "key":
			seen.Once(t, 8)
			a.Key = t.String()
		case "blank_key":
			seen.Once(t, 9)
			a.BlankKey = t.Bool()
		case "own":
			seen.Once(t, 10)
			a.Own = t.Texts()
		case "deadline":
			seen.Once(t, 11)
			a.Deadline = offsetIn(t)
		case "together":
			seen.Once(t, 12)
			a.Together = t.Bool()
		case "after":
			seen.Once(t, 13)
			a.After = offsetIn(t)
		case "start":
			seen.Once(t, 14)
			a.Start = offsetIn(t)
		case "wrote":
			seen.Once(t, 15)
			a.Wrote = offsetIn(t)
		case "replied":
			seen.Once(t, 16)
			a.Replied = offsetIn(t)
		case "end":
			seen.Once(t, 17)
			a.End = offsetIn(t)
		case "sent":
			seen.Once(t, 18)
			a.Sent = t.Int()
		case "status":
			seen.Once(t, 19)
			a.Status = int(t.Int())
		case "header":
			seen.Once(t, 20)
			a.Header = t.Texts()
		case "content":
			seen.Once(t, 21)
			a.Content = t.String()
		case "length":
			seen.Once(t, 22)
			a.Length = t.Int()
		case "digest":
			seen.Once(t, 23)
			a.Digest = t.String()
		case "outline":
			seen.Once(t, 24)
			a.Outline = t.String()
		case "unread":
			seen.Once(t, 25)
			a.Unread = t.String()
		case "complete":
			seen.Once(t, 26)
			a.Complete = t.Bool()
		case "error":
			seen.Once(t, 27)
			a.Error = t.String()
		case "error_kind":
			seen.Once(t, 28)
			a.ErrorKind = ErrorKind(t.String())
		case "cut":
			seen.Once(t, 29)
			a.Cut = cutIn(t)
		default:
			t.Refuse()
		}
	}
}

// cutIn reads a cut of a link.
func cutIn(t *lightjson.Text) *Cut {
	var c Cut
	var seen lightjson.Fields
	for t.Open('{'); t.More('}'); {
		switch t.Name() {
		case "link":
			seen.Once(t, 0)
			c.Link = t.String()
		case "moment":
			seen.Once(t, 1)
			c.Moment = t.String()
		case "at":
			seen.Once(t, 2)
			c.At = offsetIn(t)
		case "answer":
			seen.Once(t, 3)
			c.Answer = t.Bool()
		case "connections":
			seen.Once(t, 4)
			c.Connections = int(t.Int())
		case "away":
			seen.Once(t, 5)
			c.Away = offsetIn(t)
		default:
			t.Refuse()
		}
	}
	return &c
}

// passageIn reads what the upstream tap saw of an attempt.
func passageIn(t *lightjson.Text, p *passageOf) {
	*p = passageOf{}
	var seen lightjson.Fields
	for t.Open('{'); t.More('}'); {
		switch t.Name() {
		case "attempt":
			seen.Once(t, 0)
			p.Attempt = t.String()
		case "opened":
			seen.Once(t, 1)
			p.Opened = offsetIn(t)
		case "held":
			seen.Once(t, 2)
			p.Held = offsetIn(t)
		case "released":
			seen.Once(t, 3)
			p.Released = offsetIn(t)
		case "arrived":
			seen.Once(t, 4)
			p.Arrived = offsetIn(t)
		case "answered":
			seen.Once(t, 5)
			p.Answered = offsetIn(t)
		case "left":
			seen.Once(t, 6)
			p.Left = offsetIn(t)
		case "closed":
			seen.Once(t, 7)
			p.Closed = offsetIn(t)
		case "up":
			seen.Once(t, 8)
			p.Up = t.Int()
		case "down":
			seen.Once(t, 9)
			p.Down = t.Int()
		case "status":
			seen.Once(t, 10)
			p.Status = int(t.Int())
		case "refused":
			seen.Once(t, 11)
			p.Refused = t.Bool()
		default:
			t.Refuse()
		}
	}
}

// intentIn reads an intent with its bodies.
func intentIn(t *lightjson.Text) *Intent {
	var i Intent
	var seen lightjson.Fields
	for t.Open('{'); t.More('}'); {
		switch t.Name() {
		case "id":
			seen.Once(t, 0)
			i.ID = t.String()
		case "number":
			seen.Once(t, 1)
			i.Number = int(t.Int())
		case "principal":
			seen.Once(t, 2)
			i.Principal = t.String()
		case "operation":
			seen.Once(t, 3)
			i.Operation = t.String()
		case "kin":
			seen.Once(t, 4)
			i.Kin = t.String()
		case "background":
			seen.Once(t, 5)
			i.Behind = t.Bool()
		case "fresh":
			seen.Once(t, 6)
			i.Fresh = t.Bool()
		case "work":
			seen.Once(t, 7)
			i.Work = offsetIn(t)
		case "bodies":
			seen.Once(t, 8)
			i.Bodies = map[string]Body{}
			for t.Open('{'); t.More('}'); {
				name := t.Name()
				i.Bodies[name] = bodyIn(t)
			}
		default:
			t.Refuse()
		}
	}
	return &i
}

// bodyIn reads one body of an intent.
func bodyIn(t *lightjson.Text) Body {
	var b Body
	var seen lightjson.Fields
	for t.Open('{'); t.More('}'); {
		switch t.Name() {
		case "marker":
			seen.Once(t, 0)
			b.Marker = t.String()
		case "method":
			seen.Once(t, 1)
			b.Method = t.String()
		case "path":
			seen.Once(t, 2)
			b.Path = t.String()
		case "header":
			seen.Once(t, 3)
			b.Header = t.Texts()
		case "content":
			seen.Once(t, 4)
			b.Content = t.String()
		case "says":
			seen.Once(t, 5)
			b.Says = t.String()
		case "operation":
			seen.Once(t, 6)
			b.Operation = t.String()
		default:
			t.Refuse()
		}
	}
	return b
}

// sightingIn reads what the database had of an intent at a moment.
func sightingIn(t *lightjson.Text) *Sighting {
	var s Sighting
	var seen lightjson.Fields
	for t.Open('{'); t.More('}'); {
		switch t.Name() {
		case "intent":
			seen.Once(t, 0)
			s.Intent = t.String()
		case "marker":
			seen.Once(t, 1)
			s.Marker = t.String()
		case "at":
			seen.Once(t, 2)
			s.At = offsetIn(t)
		case "rows":
			seen.Once(t, 3)
			s.Rows = int(t.Int())
		default:
			t.Refuse()
		}
	}
	return &s
}

// snapshotIn reads a snapshot, or one part of it where it takes several lines. Its rows are most
// of such a line.
func snapshotIn(t *lightjson.Text) *snapshotRecord {
	var s snapshotRecord
	var seen lightjson.Fields
	for t.Open('{'); t.More('}'); {
		switch t.Name() {
		case "name":
			seen.Once(t, 0)
			s.Name = t.String()
		case "at":
			seen.Once(t, 1)
			s.At = offsetIn(t)
		case "rows":
			seen.Once(t, 2)
			s.Rows = map[string][]Row{}
			for t.Open('{'); t.More('}'); {
				marker := t.Name()
				s.Rows[marker] = rowsIn(t)
			}
		case "effects":
			seen.Once(t, 3)
			s.Effects = map[string]map[string]float64{}
			for t.Open('{'); t.More('}'); {
				name := t.Name()
				s.Effects[name] = numbersIn(t)
			}
		case "waited":
			seen.Once(t, 4)
			s.Waited = offsetIn(t)
		case "late":
			seen.Once(t, 5)
			s.Late = []string{}
			for t.Open('['); t.More(']'); {
				s.Late = append(s.Late, t.String())
			}
		case "error":
			seen.Once(t, 6)
			s.Error = t.String()
		case "more":
			seen.Once(t, 7)
			s.More = t.Bool()
		default:
			t.Refuse()
		}
	}
	return &s
}

// ownRowsIn reads the rows of some markers from the line of a snapshot. It reports whether it read the line, as [slots.common] does.
func ownRowsIn(line string, mine map[string]bool, into map[string][]Row) bool {
	t := lightjson.Of(line)
	t.Open('{')
	if !t.More('}') || t.Name() != "snapshot" {
		return false
	}
	for t.Open('{'); t.More('}'); {
		if t.Name() != "rows" {
			t.Skip()
			continue
		}
		for t.Open('{'); t.More('}'); {
			if marker := t.Name(); mine[marker] {
				into[marker] = rowsIn(&t)
			} else {
				t.Skip()
			}
		}
	}
	return !t.More('}') && t.Whole()
}

// rowsIn reads the rows of a marker. None are an empty list and not nil, as encoding/json makes them.
func rowsIn(t *lightjson.Text) []Row {
	rows, number := []Row{}, float(t)
	for t.Open('['); t.More(']'); {
		row := Row{}
		for t.Open('{'); t.More('}'); {
			column := t.Name()
			row[column] = t.Value(number)
		}
		rows = append(rows, row)
	}
	return rows
}

// float makes numbers as encoding/json does, and refuses those that are too large for it.
func float(t *lightjson.Text) func(string) any {
	return func(text string) any {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Refuse()
		}
		return n
	}
}

// numbersIn reads an object of numbers.
func numbersIn(t *lightjson.Text) map[string]float64 {
	all := map[string]float64{}
	for t.Open('{'); t.More('}'); {
		name := t.Name()
		all[name] = t.Float()
	}
	return all
}

// offsetIn reads a time since the start of the run, in nanoseconds.
func offsetIn(t *lightjson.Text) Offset { return Offset(t.Int()) }
