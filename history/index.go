package history

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// File is a history on disk that is read in parts: some intents at a time, each with all
// that is of it. So a million intents take no more memory to judge than some thousands.
// Intents with one marker, and neighbours, are in one part, as they can only be judged
// together. What is in memory is where in the file the lines of each part are, and what is
// of no intent. Make one with [Index]. Safe for concurrent use.
type File struct {
	in      io.ReaderAt
	head    History
	several bool // principals
	parts   []part
	intents names // part of each intent
	markers names // part of each marker
	joined  []uint32
	odd     map[string]string // intents of attempts whose ids do not begin with theirs

	whole *History // nil: there are several parts
}

// part is where the lines of some intents are.
type part struct {
	lines []extent
	rows  []entry
	own   int64 // bytes of lines that are of the part
}

// size is how many bytes are read of a part.
func (p part) size() int64 {
	size := int64(0)
	for _, at := range p.lines {
		size += at.to - at.from
	}
	return size
}

// extent is some lines, in bytes from the beginning of the file. Lines of other parts may be among them.
type extent struct{ from, to int64 }

// entry is rows in a snapshot: names and lists with a comma between, as they stand in a line, or a line with the rows of other parts,
// too. Where each marker has some of its own there are many, so it has 12 bytes.
type entry struct {
	from     uint32 // lower bits
	size     uint32
	above    uint16 // upper bits of from
	snapshot int8   // index of snapshotNames
	line     bool
}

// entryAt packs an extent. Files of up to 256 TiB, and rows of up to 4 GiB for a marker,
// fit.
func entryAt(at extent, snapshot int8, line bool) entry {
	return entry{uint32(at.from), uint32(at.to - at.from), uint16(at.from >> 32), snapshot, line}
}

// extent unpacks the extent.
func (e entry) extent() extent {
	from := int64(e.above)<<32 | int64(e.from)
	return extent{from, from + int64(e.size)}
}

// IndexOptions say how a history is read in parts. The zero value has what suits most.
type IndexOptions struct {
	Intents  int                   // about so many are in a part; 0: 250, and a file of less than 32 MiB is one part
	Progress func(read, all int64) // hears how many bytes are read, now and then; nil: it is not told
}

const (
	perPart = 250
	// bytesPerAttempt is about what the lines of an attempt take.
	bytesPerAttempt = 900
	// bytesPerLine is less than most lines take.
	bytesPerLine = 300
	oneRead      = 32 << 20
	readSize     = 1 << 20
	// near is how many bytes of other parts are read rather than to begin anew, at first: where the lines of intents are far
	// apart, it grows.
	near        = 4 << 10
	mostExtents = 4 << 20
	// fewParts is how many parts may read one line of a snapshot. A line with rows of more parts is read by entries.
	fewParts = 4
)

var snapshotNames = []string{BeforeName, T1Name, T2Name}

// indexer goes through a history.
type indexer struct {
	*File
	options   IndexOptions
	global    *builder
	snapshots []extent // lines
	current   uint32   // part that new intents come into
	filled    int      // intents of it
	near      int64
	extents   int
	first     string // principal
	principal bool   // there was one
	sinks     bool   // messages reached sinks
}

// Index goes through a history once and finds the lines of each intent. Damage that it sees is an error as of [Read]; what is
// wrong within a line shows when its part is read.
func Index(in io.ReaderAt, size int64, o IndexOptions) (*File, error) {
	if o.Intents == 0 && size < oneRead {
		return inOne(in, size)
	}
	o.Intents = cmp.Or(o.Intents, perPart)
	x := &indexer{File: &File{in: in, odd: map[string]string{}}, options: o, global: newBuilder(), near: near}
	x.global.loose = true
	x.newPart()
	if err := x.scan(size); err != nil {
		return nil, err
	}
	head, err := x.global.finish()
	if err != nil {
		return nil, err
	}
	x.head = *head
	if x.sinks || len(x.parts) == 1 { // a message may be of any intent
		return inOne(in, size)
	}
	if err := x.placeRows(); err != nil {
		return nil, err
	}
	x.joinParts()
	return x.File, nil
}

// inOne reads a history that is one part.
func inOne(in io.ReaderAt, size int64) (*File, error) {
	h, err := Read(io.NewSectionReader(in, 0, size))
	if err != nil {
		return nil, err
	}
	return &File{whole: h, parts: make([]part, 1), several: h.Several()}, nil
}

// lineRead is a line of a block, with what can be said of it alone.
type lineRead struct {
	text string
	at   extent
	about
	intent  *Intent  // of newIntent
	markers []uint64 // hashes, in the order of the bodies' names
	err     error
}

// blockRead is a block with its lines.
type blockRead struct {
	block
	lines []lineRead
}

// readBlock says of each line of a block what it is about. It runs on all cores at once;
// what depends on the order of lines is done in line.
func readBlock(b block) blockRead {
	read, at := blockRead{block: b, lines: make([]lineRead, 0, len(b.lines)/bytesPerLine)}, b.at
	for text := range strings.Lines(b.lines) {
		l := lineRead{text: text, at: extent{at, at + int64(len(text))}, about: aboutLine(text)}
		if l.kind == newIntent {
			l.readIntent()
		}
		read.lines, at = append(read.lines, l), l.at.to
	}
	return read
}

// readIntent reads the line of an intent in full: its markers say which rows are its own.
func (l *lineRead) readIntent() {
	r, err := recordIn(l.text)
	switch {
	case err != nil:
		l.err = err
	case r.Intent == nil:
		l.err = errKind
	default:
		l.intent = r.Intent
		for _, name := range slices.Sorted(maps.Keys(r.Intent.Bodies)) {
			l.markers = append(l.markers, hashOf(r.Intent.Bodies[name].Marker))
		}
	}
}

// scan goes through the lines of a file.
func (x *indexer) scan(size int64) error {
	n, told := 0, int64(0)
	err := InOrder(blocks(x.in, size), readBlock, func(b blockRead) error {
		if b.at-told >= 64<<20 && x.options.Progress != nil {
			told = b.at
			x.options.Progress(b.at, size)
		}
		if b.unreadable != nil {
			return b.unreadable
		}
		for i := range b.lines {
			n++
			if err := x.line(&b.lines[i]); err != nil {
				return fmt.Errorf("history line %d: %w: %w", n, ErrDamaged, err)
			}
		}
		if b.damage != nil {
			return fmt.Errorf("history line %d: %w: %w", n+1, ErrDamaged, b.damage)
		}
		return nil
	})
	if err == nil && x.options.Progress != nil {
		x.options.Progress(size, size)
	}
	return err
}

// line notes where a line is, or takes it in if it is of no intent.
func (x *indexer) line(l *lineRead) error {
	switch {
	case l.kind == ofAll:
		x.sinks = x.sinks || strings.HasPrefix(l.text, `{"message"`)
		return x.global.line(strings.Clone(l.text))
	case !x.global.headed:
		return errors.New("the first line must be the run")
	case x.global.history.Complete:
		return errors.New("a line after the end")
	case l.err != nil:
		return l.err
	}
	switch l.kind {
	case ofSnapshot:
		x.snapshots = append(x.snapshots, l.at)
		return nil
	case newIntent:
		x.place(l)
		return nil
	default:
		if l.odd() {
			x.odd[strings.Clone(l.attempt)] = strings.Clone(l.about.intent)
		}
		p, known := x.partOf(l.about)
		if !known {
			return fmt.Errorf("a line about the unknown intent %q", l.about.intent)
		}
		x.add(p, l.at)
		return nil
	}
}

// partOf returns the part of the intent that a line is about.
func (f *File) partOf(a about) (uint32, bool) {
	if a.derived {
		if intent, odd := f.odd[a.attempt]; odd {
			return f.intents.get(hashOf(intent))
		}
	}
	return f.intents.get(a.hash)
}

// place puts an intent into the part of its twins and neighbours, or into the current one.
// If they are in two parts already, these are put together: a union-find over parts, see
// root.
func (x *indexer) place(l *lineRead) {
	i := l.intent
	if !x.principal {
		x.first, x.principal = strings.Clone(i.Principal), true
	}
	x.several = x.several || i.Principal != x.first
	if x.filled >= x.options.Intents && len(x.parts) < mostNumbers {
		x.newPart()
	}
	x.filled++
	p := x.current
	found := false
	// The first part that knows something of the intent takes it in. Each further one is joined with that.
	join := func(other uint32, known bool) {
		switch {
		case known && found:
			x.join(p, other)
		case known:
			p, found = other, true
		}
	}
	join(x.intents.get(l.hash))
	if i.Kin != "" {
		join(x.intents.get(hashOf(i.Kin)))
	}
	for _, marker := range l.markers {
		join(x.markers.get(marker))
	}
	x.intents.set(l.hash, p)
	if i.Kin != "" {
		x.intents.set(hashOf(i.Kin), p)
	}
	for _, marker := range l.markers {
		x.markers.set(marker, p)
	}
	x.add(p, l.at)
}

// newPart begins a part for the intents to come.
func (x *indexer) newPart() {
	x.current, x.filled = uint32(len(x.parts)), 0
	x.parts, x.joined = append(x.parts, part{}), append(x.joined, x.current)
}

// root returns the part that a part was put together with.
func (f *File) root(p uint32) uint32 {
	for f.joined[p] != p {
		p = f.joined[p]
	}
	return p
}

// join puts two parts together.
func (f *File) join(p, q uint32) {
	p, q = f.root(p), f.root(q)
	f.joined[max(p, q)] = min(p, q)
}

// add notes a line of a part. A line that is near the one before is read with it, together
// with what lies between. When there are too many extents to keep, near grows: more is
// read, and less is remembered.
func (x *indexer) add(p uint32, at extent) {
	lines := &x.parts[p].lines
	x.parts[p].own += at.to - at.from
	if n := len(*lines); n > 0 && at.from-(*lines)[n-1].to <= x.near {
		(*lines)[n-1].to = at.to
		return
	}
	*lines = append(*lines, at)
	if x.extents++; x.extents > mostExtents {
		x.near, x.extents = 8*x.near, 0
		for i := range x.parts {
			x.parts[i].lines = slices.Clip(together(x.parts[i].lines, x.near))
			x.extents += len(x.parts[i].lines)
		}
	}
}

// together merges extents with little between them. They are in order.
func together(all []extent, near int64) []extent {
	var merged []extent
	for _, e := range all {
		if n := len(merged); n > 0 && e.from-merged[n-1].to <= near {
			merged[n-1].to = max(merged[n-1].to, e.to)
			continue
		}
		merged = append(merged, e)
	}
	return merged
}

// joinParts moves the lines of parts that were put together into the first of them.
func (x *indexer) joinParts() {
	numbers := make([]uint32, len(x.parts)) // among those that stay
	var kept []part
	for i := range x.parts {
		if x.root(uint32(i)) == uint32(i) {
			numbers[i] = uint32(len(kept))
			kept = append(kept, part{})
		}
	}
	for i, p := range x.parts {
		to := numbers[x.root(uint32(i))]
		if kept[to].own == 0 {
			kept[to] = p
			continue
		}
		kept[to].lines, kept[to].rows = append(kept[to].lines, p.lines...), append(kept[to].rows, p.rows...)
		kept[to].own += p.own
	}
	for i := range x.joined {
		x.joined[i] = numbers[x.root(uint32(i))]
	}
	for i := range kept {
		slices.SortFunc(kept[i].lines, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
		kept[i].lines = together(kept[i].lines, x.near)
	}
	x.parts = kept
}
