package history

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// builder puts the lines of a file together again, and holds that they fit: a head first,
// an intent before its attempts, a beginning before its end, nothing twice. A file that
// was edited or mixed up must not be judged as if it were a run.
type builder struct {
	history  History
	read     slots
	passages []Passage // room for more
	intents  map[string]bool
	attempts map[string]int // index into history.Attempts
	headed   bool
	loose    bool            // intents and attempts are not known
	partial  map[string]bool // snapshots of which more is to come, by name
}

var errKind = errors.New("a line of no known kind")

func newBuilder() *builder { return builderFor(0) }

// builderFor returns one with room for some attempts, which saves copying where the number
// is about known.
func builderFor(attempts int) *builder {
	b := &builder{intents: map[string]bool{}, attempts: make(map[string]int, attempts), partial: map[string]bool{}}
	b.history.Attempts = slices.Grow(b.history.Attempts, attempts)
	return b
}

// line takes in one line.
func (b *builder) line(line string) error {
	r, err := b.read.record(line)
	if err != nil {
		return err
	}
	if !b.headed && r.Run == nil {
		return errors.New("the first line must be the run")
	}
	if b.history.Complete {
		return errors.New("a line after the end")
	}
	return b.add(r)
}

// add takes over the one member of a line that is set.
func (b *builder) add(r record) error {
	switch {
	case r.Run != nil:
		return b.run(*r.Run)
	case r.Step != nil:
		b.history.Steps = append(b.history.Steps, *r.Step)
	case r.Intent != nil:
		return b.intent(*r.Intent)
	case r.Begun != nil:
		return b.begin(*r.Begun)
	case r.Attempt != nil:
		return b.end(*r.Attempt)
	case r.Passage != nil:
		return b.passage(*r.Passage)
	case r.Snapshot != nil:
		return b.snapshot(*r.Snapshot)
	case r.Followup != nil:
		return b.followup(*r.Followup)
	case r.Sighting != nil:
		b.history.Sightings = append(b.history.Sightings, *r.Sighting)
	case r.Holding != nil:
		return b.holding(*r.Holding)
	case r.Crash != nil:
		return b.crash(*r.Crash)
	case r.Death != nil:
		b.history.Deaths = append(b.history.Deaths, *r.Death)
	case r.Flush != nil:
		return b.flush(*r.Flush)
	case r.Removal != nil:
		return b.removal(*r.Removal)
	case r.Message != nil:
		b.history.Messages = append(b.history.Messages, *r.Message)
	case r.Printed != nil:
		b.history.Printed = append(b.history.Printed, *r.Printed)
	case r.Traffic != nil:
		b.history.Traffic = append(b.history.Traffic, *r.Traffic)
	case r.Received != nil:
		b.history.Received = r.Received
	case r.Incident != nil:
		b.history.Incidents = append(b.history.Incidents, *r.Incident)
	case r.Complete:
		b.history.Complete = true
	default:
		return errKind
	}
	return nil
}

// run takes in the head.
func (b *builder) run(r Run) error {
	if b.headed {
		return errors.New("a second run")
	}
	if r.Format != Format {
		return fmt.Errorf("format %d, this doubletap reads format %d", r.Format, Format)
	}
	b.headed, b.history.Run = true, r
	return nil
}

// intent takes in an intent.
func (b *builder) intent(i Intent) error {
	if i.ID == "" {
		return errors.New("an intent without an ID")
	}
	if i.Bodies[Original].Marker == "" {
		return fmt.Errorf("intent %q has no marker, by which its rows are known", i.ID)
	}
	if b.intents[i.ID] {
		return fmt.Errorf("intent %q twice", i.ID)
	}
	b.intents[i.ID] = true
	b.history.Intents = append(b.history.Intents, i)
	return nil
}

// begin takes in the beginning of an attempt, which sets its place: attempts stand in the
// order in which they were first sent, not in which they ended.
func (b *builder) begin(a Attempt) error {
	if _, seen := b.attempts[a.ID]; seen {
		return fmt.Errorf("attempt %q begun twice", a.ID)
	}
	if !b.intents[a.Intent] {
		return fmt.Errorf("attempt %q of the unknown intent %q", a.ID, a.Intent)
	}
	b.attempts[a.ID] = len(b.history.Attempts)
	b.history.Attempts = append(b.history.Attempts, a)
	return nil
}

// end takes in an attempt that has ended, in the place of its beginning.
func (b *builder) end(a Attempt) error {
	i, begun := b.attempts[a.ID]
	if !begun {
		return fmt.Errorf("attempt %q ended without a beginning", a.ID)
	}
	if b.history.Attempts[i].End != 0 {
		return fmt.Errorf("attempt %q ended twice", a.ID)
	}
	if a.End == 0 || a.Intent != b.history.Attempts[i].Intent {
		return fmt.Errorf("attempt %q does not fit its beginning", a.ID)
	}
	a.Passage = b.history.Attempts[i].Passage
	b.history.Attempts[i] = a
	return nil
}

// passage gives an attempt what its tap saw. Passages are kept in blocks, as one
// allocation for each would cost more than what it holds. A block is never moved: attempts
// point into it.
func (b *builder) passage(p passageOf) error {
	i, known := b.attempts[p.Attempt]
	if !known {
		return fmt.Errorf("passage of the unknown attempt %q", p.Attempt)
	}
	if len(b.passages) == cap(b.passages) {
		b.passages = make([]Passage, 0, min(2*cap(b.passages)+8, mostPassages))
	}
	b.passages = append(b.passages, p.Passage)
	b.history.Attempts[i].Passage = &b.passages[len(b.passages)-1]
	return nil
}

// mostPassages is how many room is made for at once.
const mostPassages = 1 << 10

// followup takes in what became of an accepted attempt.
func (b *builder) followup(f Followup) error {
	if _, known := b.attempts[f.Attempt]; !known {
		return fmt.Errorf("followup of the unknown attempt %q", f.Attempt)
	}
	b.history.Followups = append(b.history.Followups, f)
	return nil
}

// holding takes in a time that writers were held. Where intents are not known (loose), the
// parts have them, and this is of all.
func (b *builder) holding(h Holding) error {
	if !b.loose && !b.intents[h.Intent] {
		return fmt.Errorf("holding of the unknown intent %q", h.Intent)
	}
	b.history.Holdings = append(b.history.Holdings, h)
	return nil
}

// crash takes in a crash of the target.
func (b *builder) crash(c Crash) error {
	if _, begun := b.attempts[c.Attempt]; !b.loose && !begun {
		return fmt.Errorf("crash beside the unknown attempt %q", c.Attempt)
	}
	b.history.Crashes = append(b.history.Crashes, c)
	return nil
}

// flush takes in a loss of the target's store.
func (b *builder) flush(f Flush) error {
	if !b.loose && !b.intents[f.Intent] {
		return fmt.Errorf("flush for the unknown intent %q", f.Intent)
	}
	b.history.Flushes = append(b.history.Flushes, f)
	return nil
}

// removal takes in a removal.
func (b *builder) removal(r Removal) error {
	if !b.loose && !b.intents[r.Intent] {
		return fmt.Errorf("removal for the unknown intent %q", r.Intent)
	}
	b.history.Removals = append(b.history.Removals, r)
	return nil
}

// snapshot takes in a snapshot, or more of one that takes several lines.
func (b *builder) snapshot(s snapshotRecord) error {
	slot, known := map[string]**Snapshot{
		BeforeName: &b.history.Before, T1Name: &b.history.T1, T2Name: &b.history.T2,
	}[s.Name]
	if !known {
		return fmt.Errorf("snapshot of the unknown name %q", s.Name)
	}
	switch {
	case *slot == nil:
		*slot = &s.Snapshot
	case !b.partial[s.Name]:
		return fmt.Errorf("snapshot %s twice", s.Name)
	default:
		(*slot).extend(s.Snapshot)
	}
	b.partial[s.Name] = s.More
	return nil
}

// extend takes in the rows and effects of more markers.
func (s *Snapshot) extend(more Snapshot) {
	if s.Rows == nil {
		s.Rows = map[string][]Row{}
	}
	maps.Copy(s.Rows, more.Rows)
	for name, numbers := range more.Effects {
		if s.Effects == nil {
			s.Effects = map[string]map[string]float64{}
		}
		if s.Effects[name] == nil {
			s.Effects[name] = map[string]float64{}
		}
		maps.Copy(s.Effects[name], numbers)
	}
}

// snapshots returns the three snapshots. One of which the end is missing was not taken.
func (b *builder) snapshots() (before, t1, t2 *Snapshot) {
	h := b.history
	for name, slot := range map[string]**Snapshot{BeforeName: &h.Before, T1Name: &h.T1, T2Name: &h.T2} {
		if b.partial[name] {
			*slot = nil
		}
	}
	return h.Before, h.T1, h.T2
}

// finish returns the history. It may lack its end: that is a fact, not damage.
func (b *builder) finish() (*History, error) {
	if !b.headed {
		return nil, fmt.Errorf("%w: no run in it", ErrDamaged)
	}
	b.history.Before, b.history.T1, b.history.T2 = b.snapshots()
	return &b.history, nil
}
