package history

import (
	"bytes"
	"fmt"
	"strings"
)

// damaged is an error at a place of the file, with the number of its line.
func (f *File) damaged(at int64, err error) error {
	n := 1
	buffer := make([]byte, readSize)
	for from := int64(0); from < at; from += int64(len(buffer)) {
		got, _ := f.in.ReadAt(buffer[:min(int64(len(buffer)), at-from)], from)
		n += bytes.Count(buffer[:got], []byte{'\n'})
	}
	return fmt.Errorf("history line %d: %w: %w", n, ErrDamaged, err)
}

// Head returns what is of no intent: the run, steps, crashes and so on, and the snapshots without the rows of markers.
func (f *File) Head() *History {
	if f.whole != nil {
		return f.whole
	}
	return &f.head
}

// Several reports that more than one principal sent requests.
func (f *File) Several() bool { return f.several }

// Len returns how many parts there are, at least 1.
func (f *File) Len() int { return len(f.parts) }

// Part reads some intents with all that is of them, and what Head returns. Parts may be
// read at once by several goroutines. The history shares what Head returns, which must not
// be changed.
func (f *File) Part(i int) (*History, error) {
	if f.whole != nil {
		return f.whole, nil
	}
	p := f.parts[i]
	in, size := textsOf(f.in), p.size()
	b := builderFor(int(p.own / bytesPerAttempt))
	b.headed = true
	for _, at := range p.lines {
		err := in.lines(at, func(line string, from int64) error {
			if p.own != size && !f.isOf(line, uint32(i)) {
				return nil
			}
			if size > 2*p.own { // not to keep all that is of others
				line = strings.Clone(line)
			}
			if err := b.line(line); err != nil {
				return f.damaged(from, err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	h := f.head
	h.Intents, h.Attempts, h.Followups, h.Sightings = b.history.Intents, b.history.Attempts, b.history.Followups, b.history.Sightings
	return &h, f.addRows(&h, p.rows, in)
}

// isOf reports that a line is of a part.
func (f *File) isOf(line string, p uint32) bool {
	a := aboutLine(line)
	if a.kind != newIntent && a.kind != ofIntent {
		return false
	}
	of, known := f.partOf(a)
	return known && f.joined[of] == p
}

// addRows gives a part its rows and effects.
func (f *File) addRows(h *History, rows []entry, in *texts) error {
	mine := map[string]bool{}
	for _, i := range h.Intents {
		for _, b := range i.Bodies {
			mine[b.Marker] = true
		}
	}
	slots := []**Snapshot{&h.Before, &h.T1, &h.T2}
	for _, slot := range slots {
		*slot = (*slot).only(mine)
	}
	for _, at := range rows {
		text, err := in.read(at.extent())
		if err != nil {
			return err
		}
		if !at.line {
			// The index points to the rows inside a long line, which is not read as a whole.
			text = `{"snapshot":{"rows":{` + text + `}}}`
		}
		into := (*slots[at.snapshot]).Rows
		if ownRowsIn(text, mine, into) {
			continue
		}
		r, err := recordIn(text)
		if err != nil {
			return f.damaged(at.extent().from, err)
		}
		for marker, rows := range r.Snapshot.Rows {
			if mine[marker] {
				into[marker] = rows
			}
		}
	}
	return nil
}

// only returns a snapshot with the rows and effects of some markers, and with totals.
func (s *Snapshot) only(markers map[string]bool) *Snapshot {
	if s == nil {
		return nil
	}
	some := *s
	some.Rows = map[string][]Row{}
	for marker := range markers {
		if rows, asked := s.Rows[marker]; asked {
			some.Rows[marker] = rows
		}
	}
	if s.Effects == nil {
		return &some
	}
	some.Effects = map[string]map[string]float64{}
	for name, numbers := range s.Effects {
		some.Effects[name] = map[string]float64{}
		for marker := range markers {
			if n, asked := numbers[marker]; asked {
				some.Effects[name][marker] = n
			}
		}
		if total, asked := numbers[""]; asked {
			some.Effects[name][""] = total
		}
	}
	return &some
}
