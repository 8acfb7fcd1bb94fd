package history

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/lightjson"
)

// File is a history on disk that is read in parts: some intents at a time, each with all that is of it. Intents with one marker,
// and neighbours, are in one part. What is in memory is where in the file the lines of each part are, and what is of no intent.
// Safe for concurrent use.
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

// entry is the rows of one marker in a snapshot: a name and a list, or a line with the rows of several markers.
type entry struct {
	extent
	snapshot int8 // index of snapshotNames
	line     bool
}

// IndexOptions say how a history is read in parts. The zero value has what suits most.
type IndexOptions struct {
	Intents  int                   // about so many are in a part; 0: 250, and a file of less than 32 MiB is one part
	Progress func(read, all int64) // hears how many bytes are read, now and then; nil: nobody asks
}

const (
	perPart = 250
	// bytesPerAttempt is about what the lines of an attempt take.
	bytesPerAttempt = 900
	oneRead         = 32 << 20
	readSize        = 1 << 20
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

// scan goes through the lines of a file.
func (x *indexer) scan(size int64) error {
	n, told := 0, int64(0)
	err := blocks(x.in, size, func(b block) error {
		if b.at-told >= 64<<20 && x.options.Progress != nil {
			told = b.at
			x.options.Progress(b.at, size)
		}
		if b.unreadable != nil {
			return b.unreadable
		}
		at := b.at
		for line := range strings.Lines(b.lines) {
			n++
			if err := x.line(line, extent{at, at + int64(len(line))}); err != nil {
				return fmt.Errorf("history line %d: %w: %w", n, ErrDamaged, err)
			}
			at += int64(len(line))
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
func (x *indexer) line(line string, at extent) error {
	kind, intent := x.of(line)
	switch {
	case kind == ofAll:
		x.sinks = x.sinks || strings.HasPrefix(line, `{"message"`)
		return x.global.line(strings.Clone(line))
	case !x.global.headed:
		return errors.New("the first line must be the run")
	case x.global.history.Complete:
		return errors.New("a line after the end")
	}
	switch kind {
	case ofSnapshot:
		x.snapshots = append(x.snapshots, at)
		return nil
	case newIntent:
		r, err := recordIn(line)
		if err != nil {
			return err
		}
		if r.Intent == nil {
			return errors.New("a line of no known kind")
		}
		x.place(*r.Intent, at)
		return nil
	default:
		p, known := x.intents.get(intent)
		if !known {
			return fmt.Errorf("a line about the unknown intent %q", intent)
		}
		x.add(p, at)
		return nil
	}
}

// lineOf says what a line is about.
type lineOf int

const (
	ofAll lineOf = iota // no intent, or it is not known
	ofSnapshot
	newIntent
	ofIntent
)

// of says what a line is about, and which intent. Lines are as the writer writes them, or are read in full.
func (f *File) of(line string) (lineOf, string) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(line[:min(len(line), 64)], `{"`), `":{"`)
	rest = line[len(line[:min(len(line), 64)])-len(rest):]
	switch kind {
	case "snapshot":
		return ofSnapshot, ""
	case "intent":
		if id, _, ok := member(rest, `id":"`); ok {
			return newIntent, id
		}
		return f.inFull(line)
	case "begun", "attempt":
		id, rest, ok := member(rest, `id":"`)
		intent, _, also := member(rest, `,"intent":"`)
		if !ok || !also {
			return f.inFull(line)
		}
		f.noteOdd(id, intent)
		return ofIntent, intent
	case "sighting":
		if intent, _, ok := member(rest, `intent":"`); ok {
			return ofIntent, intent
		}
		return f.inFull(line)
	case "passage", "followup":
		if attempt, _, ok := member(rest, `attempt":"`); ok {
			return ofIntent, f.intentOf(attempt)
		}
		return f.inFull(line)
	default:
		return f.inFull(line)
	}
}

// member cuts a text without escapes from the beginning of a line.
func member(line, before string) (value, rest string, ok bool) {
	line, ok = strings.CutPrefix(line, before)
	value, rest, found := strings.Cut(line, `"`)
	return value, rest, ok && found && !strings.Contains(value, `\`)
}

// inFull says what a line is about that is written in another way.
func (f *File) inFull(line string) (lineOf, string) {
	r, err := recordIn(line)
	if err != nil {
		return ofAll, "" // whoever takes it in says why
	}
	switch {
	case r.Snapshot != nil:
		return ofSnapshot, ""
	case r.Intent != nil:
		return newIntent, r.Intent.ID
	case r.Begun != nil:
		f.noteOdd(r.Begun.ID, r.Begun.Intent)
		return ofIntent, r.Begun.Intent
	case r.Attempt != nil:
		return ofIntent, r.Attempt.Intent
	case r.Passage != nil:
		return ofIntent, f.intentOf(r.Passage.Attempt)
	case r.Followup != nil:
		return ofIntent, f.intentOf(r.Followup.Attempt)
	case r.Sighting != nil:
		return ofIntent, r.Sighting.Intent
	default:
		return ofAll, ""
	}
}

// noteOdd notes the intent of an attempt, unless its id tells.
func (f *File) noteOdd(attempt, intent string) {
	if !strings.HasPrefix(attempt, intent) || strings.LastIndexByte(attempt, '.') != len(intent) {
		if f.odd[attempt] != intent {
			f.odd[strings.Clone(attempt)] = strings.Clone(intent)
		}
	}
}

// intentOf returns the intent of an attempt.
func (f *File) intentOf(attempt string) string {
	if intent, odd := f.odd[attempt]; odd {
		return intent
	}
	return attempt[:max(0, strings.LastIndexByte(attempt, '.'))]
}

// place puts an intent into the part of its twins and neighbours, or into the current one.
func (x *indexer) place(i Intent, at extent) {
	if !x.principal {
		x.first, x.principal = strings.Clone(i.Principal), true
	}
	x.several = x.several || i.Principal != x.first
	if x.filled >= x.options.Intents {
		x.newPart()
	}
	x.filled++
	p := x.current
	found := false
	join := func(other uint32, known bool) {
		switch {
		case known && found:
			x.join(p, other)
		case known:
			p, found = other, true
		}
	}
	join(x.intents.get(i.ID))
	if i.Kin != "" {
		join(x.intents.get(i.Kin))
	}
	for _, name := range slices.Sorted(maps.Keys(i.Bodies)) {
		join(x.markers.get(i.Bodies[name].Marker))
	}
	x.intents.set(i.ID, p)
	if i.Kin != "" {
		x.intents.set(i.Kin, p)
	}
	for _, b := range i.Bodies {
		x.markers.set(b.Marker, p)
	}
	x.add(p, at)
}

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

// add notes a line of a part.
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

// placeRows goes through the snapshots and finds which rows are of which part.
func (x *indexer) placeRows() error {
	in := textsOf(x.in)
	for _, at := range x.snapshots {
		line, err := in.read(at)
		if err == nil {
			err = x.placeSnapshot(line, at)
		}
		if err != nil {
			return x.damaged(at.from, err)
		}
	}
	x.head.Before, x.head.T1, x.head.T2 = x.global.snapshots()
	return nil
}

// placeSnapshot finds the parts of the rows of one line.
func (x *indexer) placeSnapshot(line string, at extent) error {
	places, rest, ok := rowPlaces(line)
	if !ok { // as no writer of ours writes it
		return x.placeOdd(line)
	}
	r, err := recordIn(rest)
	if err != nil {
		return err
	}
	if err := x.global.snapshot(*r.Snapshot); err != nil {
		return err
	}
	name := int8(slices.Index(snapshotNames, r.Snapshot.Name))
	parts := map[uint32]bool{}
	for _, p := range places {
		if to, known := x.markers.get(p.marker); known {
			parts[x.root(to)] = true
		}
	}
	if len(parts) <= fewParts {
		for p := range parts {
			x.parts[p].rows = append(x.parts[p].rows, entry{at, name, true})
		}
		return nil
	}
	for _, p := range places {
		to, known := x.markers.get(p.marker)
		if known && !(p.empty && r.Snapshot.Name == BeforeName) { // what was not there before is not asked for
			x.parts[to].rows = append(x.parts[to].rows, entry{extent{at.from + int64(p.from), at.from + int64(p.to)}, name, false})
		}
	}
	return nil
}

// placeOdd keeps a snapshot in memory.
func (x *indexer) placeOdd(line string) error {
	r, err := recordIn(line)
	if err != nil {
		return err
	}
	return x.global.snapshot(*r.Snapshot)
}

// rowPlace is where the rows of a marker are in a line, with the marker.
type rowPlace struct {
	marker   string
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
			places = append(places, rowPlace{marker, at, t.At(), strings.HasPrefix(line[value:], "[]")})
		}
		to = t.At() - 1
	}
	if t.More('}') || !t.Whole() || from == 0 {
		return nil, "", false
	}
	return places, line[:from] + line[to:], true
}

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

// Part reads some intents with all that is of them, and what Head returns.
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
	kind, intent := f.of(line)
	of, known := f.intents.get(intent)
	return (kind == newIntent || kind == ofIntent) && known && f.joined[of] == p
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
		text, err := in.read(at.extent)
		if err != nil {
			return err
		}
		if !at.line {
			text = `{"snapshot":{"rows":{` + text + `}}}`
		}
		into := (*slots[at.snapshot]).Rows
		if ownRowsIn(text, mine, into) {
			continue
		}
		r, err := recordIn(text)
		if err != nil {
			return f.damaged(at.from, err)
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

// names is a number for each of very many names, in 8 bytes and a bit. Two names in some thousand million may have one number.
type names struct {
	slots []uint64 // hash and number; 0: free
	used  int
}

// set gives a name its number, unless it has one.
func (n *names) set(name string, number uint32) {
	if 10*n.used >= 7*len(n.slots) {
		old := n.slots
		n.slots = make([]uint64, max(1<<10, 2*len(old)))
		for _, slot := range old {
			if slot != 0 {
				n.slots[n.find(uint32(slot>>32))] = slot
			}
		}
	}
	hash := hashOf(name)
	if at := n.find(hash); n.slots[at] == 0 {
		n.slots[at] = uint64(hash)<<32 | uint64(number)
		n.used++
	}
}

// get returns the number of a name, and whether it has one.
func (n *names) get(name string) (uint32, bool) {
	if n.used == 0 {
		return 0, false
	}
	slot := n.slots[n.find(hashOf(name))]
	return uint32(slot), slot != 0
}

// find returns the slot of a hash, or the free one where it would be.
func (n *names) find(hash uint32) int {
	mask := len(n.slots) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		if slot := n.slots[at]; slot == 0 || uint32(slot>>32) == hash {
			return at
		}
	}
}

// hashOf is FNV-1a, mixed, and never 0.
func hashOf(name string) uint32 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h ^= h >> 29
	return uint32(h*0x9e3779b97f4a7c15>>32) | 1
}
