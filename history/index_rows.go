package history

import (
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/lightjson"
)

// snapshotRead is a line of a snapshot: where its rows are, and the rest. If it is not as our writer writes it, all is in the rest.
type snapshotRead struct {
	at     extent
	places []rowPlace
	rest   *snapshotRecord
	err    error
}

// readSnapshot finds where the rows of a line are, without reading them.
func (x *indexer) readSnapshot(at extent) snapshotRead {
	read := snapshotRead{at: at}
	line, err := textsOf(x.in).read(at)
	if err == nil {
		places, rest, ok := rowPlaces(line)
		if !ok {
			rest = line
		}
		var r record
		r, err = recordIn(rest)
		if err == nil && r.Snapshot == nil { // the member is there a second time
			err = errKind
		}
		read.places, read.rest = places, r.Snapshot
	}
	read.err = err
	return read
}

// placeRows goes through the snapshots and finds which rows are of which part.
func (x *indexer) placeRows() error {
	err := InOrder(slices.Values(x.snapshots), x.readSnapshot, func(s snapshotRead) error {
		err := s.err
		if err == nil {
			err = x.global.snapshot(*s.rest)
		}
		if err != nil {
			return x.damaged(s.at.from, err)
		}
		x.placeSnapshot(s)
		return nil
	})
	x.head.Before, x.head.T1, x.head.T2 = x.global.snapshots()
	return err
}

// placeSnapshot finds the parts of the rows of one line.
func (x *indexer) placeSnapshot(s snapshotRead) {
	name := int8(slices.Index(snapshotNames, s.rest.Name))
	parts := map[uint32]bool{}
	for _, p := range s.places {
		if to, known := x.markers.get(p.marker); known {
			parts[x.root(to)] = true
		}
	}
	if len(parts) <= fewParts {
		for p := range parts {
			x.parts[p].rows = append(x.parts[p].rows, entryAt(s.at, name, true))
		}
		return
	}
	for _, p := range s.places {
		to, known := x.markers.get(p.marker)
		if known && !(p.empty && s.rest.Name == BeforeName) { // what was not there before is not asked for
			x.parts[to].addRows(extent{s.at.from + int64(p.from), s.at.from + int64(p.to)}, name)
		}
	}
}

// longestEntry bounds how many bytes of a snapshot are read at once, but for a marker with more.
const longestEntry = 1 << 20

// addRows notes the rows of one marker. Those that follow on the ones before in the same line, as most do, are one entry with them.
func (p *part) addRows(at extent, snapshot int8) {
	if n := len(p.rows); n > 0 {
		last := p.rows[n-1]
		before := last.extent()
		const comma = 1
		if !last.line && last.snapshot == snapshot && before.to+comma == at.from && at.to-before.from <= longestEntry {
			p.rows[n-1] = entryAt(extent{before.from, at.to}, snapshot, false)
			return
		}
	}
	p.rows = append(p.rows, entryAt(at, snapshot, false))
}

// rowPlace is where the rows of a marker are in a line.
type rowPlace struct {
	marker   uint64 // hash
	from, to int
	empty    bool
}

// rowPlaces finds the rows of a snapshot, and returns the line without them.
func rowPlaces(line string) (places []rowPlace, rest string, ok bool) {
	t := lightjson.Of(line)
	t.Open('{')
	if !t.More('}') || t.Name() != "snapshot" {
		return nil, "", false
	}
	from, to := 0, 0
	for t.Open('{'); t.More('}'); {
		if t.Name() != "rows" {
			t.Skip()
			continue
		}
		if from != 0 {
			return nil, "", false
		}
		t.Open('{')
		from = t.At()
		for t.More('}') {
			at := t.Ahead()
			marker := t.Name()
			value := t.Ahead()
			t.Skip()
			places = append(places, rowPlace{hashOf(marker), at, t.At(), strings.HasPrefix(line[value:], "[]")})
		}
		to = t.At() - 1
	}
	if t.More('}') || !t.Whole() || from == 0 {
		return nil, "", false
	}
	return places, line[:from] + line[to:], true
}
