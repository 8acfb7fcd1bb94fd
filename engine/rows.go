package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/snapshots"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
)

// rowReader finds the rows of markers: in a database, or by asking the target itself for
// its listing. The latter is the target's own word, and reports say so.
type rowReader interface {
	Snapshot(ctx context.Context, questions []snapshots.Question) history.Snapshot
	Rows(ctx context.Context, q snapshots.Question, marker string) (int, error)
}

// tellsRows reports that the rows can still be read: the database, or the target itself.
func (s *Session) tellsRows(ctx context.Context) bool {
	if s.System.Rows != nil {
		return s.System.Rows.Alive()
	}
	return s.alive(ctx)
}

// rowQueries read the rows of one run of a scenario.
type rowQueries struct {
	target    targets.Target
	reader    rowReader // nil: the rows are unknown
	questions []snapshots.Question
	reading   time.Duration            // of all snapshots so far
	slow      func(ReadingRows)        // hears of a snapshot that takes long
	messages  func() []history.Message // that reached the sinks so far
	volatile  []string                 // columns that differ in every look; empty: none was seen
	moved     func(effect string) bool // others change a total, too; nil: none is known
	replicas  []sut.Replica            // other databases, with which that of reader converges
}

// prepareQuestions prepares what a snapshot asks. Where rows are read nowhere, they are unknown.
func (r *scenarioRun) prepareQuestions(ctx context.Context) error {
	system := r.session.System
	r.rows.target, r.rows.messages = system.Target, func() []history.Message { return messagesSoFar(ctx, r) }
	r.rows.moved = func(effect string) bool { return len(r.session.behind.movedOf([]string{effect})) > 0 }
	r.rows.slow = func(e ReadingRows) { r.session.config.Observe(e) }
	switch {
	case system.Rows != nil:
		r.rows.reader, r.rows.replicas = system.Rows, system.Replicas
	case system.Target.AsksItself():
		r.rows.reader = snapshots.NewListing(r.sender.Look)
	default:
		return nil
	}
	markers, views := r.sender.Workload().Markers(), r.sender.Views()
	r.rows.questions = nil
	for _, o := range system.Operations {
		if len(markers[o.Name]) == 0 {
			continue
		}
		q := questionAbout(o, markers[o.Name])
		if o.Rows.HTTP != nil && r.prepared != nil { // before a login the target would list nothing
			gets, err := listingGets(*o.Rows.HTTP, markers[o.Name], views, r.sender.Workload())
			if err != nil {
				return runerror.Configf("operations.%s.rows.http of %s: %w", o.Name, system.Name, err)
			}
			q.Gets = gets
		}
		r.rows.questions = append(r.rows.questions, q)
	}
	return nil
}

// rowCounter counts the rows of a marker, once the questions are prepared; nil: rows are read nowhere.
func (r *scenarioRun) rowCounter() func(ctx context.Context, operation, marker string) (int, error) {
	if r.session.System.Rows == nil && !r.session.System.Target.AsksItself() {
		return nil
	}
	return r.rows.count
}

// count counts the rows of one marker, while requests are under way. The driver asks it
// for operations of the plan, which have a question once prepareQuestions has run.
func (q *rowQueries) count(ctx context.Context, operation, marker string) (int, error) {
	n := slices.IndexFunc(q.questions, func(q snapshots.Question) bool { return q.Operation == operation })
	if n < 0 {
		return 0, fmt.Errorf("no question about the rows of operation %s was prepared", operation)
	}
	return q.reader.Rows(ctx, q.questions[n], marker)
}

// slowReading is after how long a snapshot says how far it is, and from then on whenever twice the time has passed.
const slowReading = 10 * time.Second

// snapshot reads all rows once.
func (q *rowQueries) snapshot(ctx context.Context) history.Snapshot {
	begun, next, of := time.Now(), slowReading, 0
	defer func() { q.reading += time.Since(begun) }()
	questions := slices.Clone(q.questions)
	for i, asked := range questions {
		of += len(asked.Markers)
		earlier := of - len(asked.Markers)
		questions[i].Answered = func(markers int) {
			if took := time.Since(begun); took >= next {
				next = 2 * took
				q.slow(ReadingRows{Markers: earlier + markers, Of: of, Took: took})
			}
		}
	}
	s := q.reader.Snapshot(ctx, questions)
	q.addReplicas(ctx, questions, &s)
	for _, asked := range questions {
		s.Order = append(s.Order, asked.Markers...)
	}
	return s
}

// addReplicas adds the rows of the other databases of a target with several. A row that is
// not in all of them is marked with the names of those that lack it. Effects are asked for
// once only.
func (q *rowQueries) addReplicas(ctx context.Context, questions []snapshots.Question, s *history.Snapshot) {
	if len(q.replicas) == 0 {
		return
	}
	for i := range questions {
		questions[i].Effects, questions[i].Answered = nil, nil
	}
	before := []string{"database"}
	for _, replica := range q.replicas {
		there := replica.Rows.Snapshot(ctx, questions)
		if s.Error != "" || there.Error != "" {
			s.Error = cmp.Or(s.Error, there.Error)
			return
		}
		for marker, rows := range s.Rows {
			s.Rows[marker] = history.WithReplica(rows, there.Rows[marker], replica.Instance, before)
		}
		before = append(before, replica.Instance)
	}
}

// apart lists the markers of which a database lacks a row.
func apart(s history.Snapshot) []string {
	var markers []string
	for marker, rows := range s.Rows {
		if slices.ContainsFunc(rows, func(row history.Row) bool { return row[history.NotAt] != nil }) {
			markers = append(markers, marker)
		}
	}
	slices.Sort(markers)
	return markers
}

// awaiting is how long a snapshot waits for rows. The zero value waits for a second look.
type awaiting struct {
	equal   bool                            // the last two looks have to be equal
	still   time.Duration                   // for so long nothing may change
	owed    time.Duration                   // for so long what clients were told of may be missing
	grace   time.Duration                   // and for so long it is looked for afterwards: it is late then
	missing func(history.Snapshot) []string // markers of what clients were told of; nil: nothing is looked for
	heldUp  func() bool                     // others keep the target from its work: that time does not count, up to quietLongest; nil: nobody does
	stop    context.Context                 // its end ends the wait; nil with the zero value
}

// over reports that missing rows are not waited for after such a time.
func (w awaiting) over(waited time.Duration) bool {
	return waited >= w.owed+w.grace || w.stop.Err() != nil
}

// leastProgress is how often at least one missing row has to come, for others to be waited for.
const leastProgress = 2 * time.Second

// progress is when fewer rows were missing than before: who has more to do than it gets done has lost nothing while it goes on.
type progress struct {
	fewest int
	last   time.Duration
}

// seen notes how many rows are missing.
func (p *progress) seen(missing int, at time.Duration) {
	if p.last == 0 || missing < p.fewest {
		p.fewest, p.last = missing, at
	}
}

// settled takes snapshots until nothing changes and nothing is missing, and returns the
// last. Changing: the rows did not stop to change in time. The reading itself takes as
// long as it does, and is no part of any deadline: a million rows would otherwise never
// come to rest.
func (q *rowQueries) settled(ctx context.Context, w awaiting) (last history.Snapshot, changing bool) {
	begun, read, overdue, sent, restless := time.Now(), q.reading, []string(nil), len(q.messages()), 0
	last = q.snapshot(ctx)
	unchanged, came, held := begun, time.Duration(0), time.Duration(0)
	var goesOn progress
	for between := quietPoll; last.Error == ""; between = min(between+quietPoll, quietSeldom) {
		pause(ctx, between)
		q.messages() // what was published before is on record, and before the snapshot
		next := q.snapshot(ctx)
		waited := time.Since(begun)
		equal := reflect.DeepEqual(q.compared(last), q.compared(next)) && reflect.DeepEqual(q.still(last.Effects), q.still(next.Effects)) && sent == len(q.messages())
		if restless++; equal || next.Error != "" {
			restless = 0
		}
		if restless == mostRestless {
			q.volatile = q.differing(last, next)
			if len(q.volatile) > 0 {
				return next, false
			}
		}
		last, sent = next, len(q.messages())
		if next.Error != "" {
			break
		}
		if !equal {
			unchanged = time.Now()
		}
		var missing []string
		if w.missing != nil {
			missing = w.missing(next)
		}
		if len(q.replicas) > 0 {
			missing = append(missing, apart(next)...)
		}
		if len(missing) > 0 {
			came = waited
			if w.heldUp != nil && waited < quietLongest && w.heldUp() {
				held = waited
			}
			if waited-held >= w.owed && overdue == nil {
				overdue = missing
			}
			if goesOn.seen(len(missing), waited); !w.over(waited - held) {
				continue
			}
		}
		worksOn := w.grace > 0 && len(missing) > 0 && waited-goesOn.last < max(w.grace/4, leastProgress)
		if !worksOn && (equal || !w.equal) && time.Since(unchanged) >= w.still || ctx.Err() != nil || w.stop != nil && w.stop.Err() != nil {
			if len(missing) == 0 {
				last.Waited = history.Offset(came)
			}
			last.Late = slices.DeleteFunc(overdue, func(marker string) bool { return slices.Contains(missing, marker) })
			break
		}
		if time.Since(begun)-(q.reading-read) >= quietLongest+w.still+w.owed+w.grace {
			return last, true
		}
	}
	return last, false
}

// still leaves out the totals that others change.
func (q *rowQueries) still(effects map[string]map[string]float64) map[string]map[string]float64 {
	left := maps.Clone(effects)
	maps.DeleteFunc(left, func(name string, _ map[string]float64) bool { return q.moved != nil && q.moved(name) })
	return left
}

// mostRestless is how many looks in a row may differ, in about 2 s, before columns are taken for such as now() and random().
const mostRestless = 14

// differing names the columns that differ between two looks with the same number of rows, with their operations. Of a listing
// it names none: what a target tells of a thing may change.
func (q *rowQueries) differing(a, b history.Snapshot) (columns []string) {
	if q.target.AsksItself() {
		return nil
	}
	for _, asked := range q.questions {
		for _, marker := range asked.Markers {
			was, is := a.Rows[marker], b.Rows[marker]
			if len(was) != len(is) {
				return nil
			}
			for i := range was {
				for column, value := range is[i] {
					if name := fmt.Sprintf("%s of operations.%s.rows.query", column, asked.Operation); !reflect.DeepEqual(was[i][column], value) && !slices.Contains(columns, name) {
						columns = append(columns, name)
					}
				}
			}
		}
	}
	slices.Sort(columns)
	return columns
}

// questionAbout is what a snapshot asks for one operation.
func questionAbout(o driver.Operation, markers []string) snapshots.Question {
	q := snapshots.Question{
		Operation: o.Name, Rows: o.Rows.Query, Markers: markers,
		Items: o.Rows.Items, Next: o.Rows.Next, Cursor: o.Rows.Cursor, Absent: o.Rows.Absent, Identity: o.Rows.Identity,
	}
	for _, e := range o.Effects {
		if e.Seen != "" { // it is counted at a sink
			continue
		}
		gives := snapshots.Rows
		switch {
		case e.Value != nil:
			gives = snapshots.Value
		case e.Delta != nil:
			gives = snapshots.Total
		}
		q.Effects = append(q.Effects, snapshots.Effect{Name: e.Name, Query: e.Query, Gives: gives})
	}
	return q
}

// totals are the questions of a snapshot that ask for no marker.
func (q *rowQueries) totals() []snapshots.Question {
	questions := slices.Clone(q.questions)
	for i := range questions {
		questions[i].Markers, questions[i].Answered = nil, nil
		questions[i].Effects = slices.DeleteFunc(slices.Clone(questions[i].Effects), func(e snapshots.Effect) bool { return e.Gives != snapshots.Total })
	}
	return questions
}

// listingGets are the questions to the target itself, by marker.
func listingGets(l contract.Listing, markers []string, views map[string][]targets.Values, w *driver.Workload) (map[string][]snapshots.Get, error) {
	all := map[string][]snapshots.Get{}
	for _, marker := range markers {
		for _, values := range views[marker] {
			path, header, err := targets.RenderListing(l, values)
			if err != nil {
				return nil, err
			}
			all[marker] = append(all[marker], snapshots.Get{URL: w.URL(path), Header: header})
		}
	}
	return all, nil
}

// compared returns of a snapshot what the target is checked against. A listing may tell
// more of a thing, such as how old it is, and that need not stay the same: it would never
// come to rest.
func (q *rowQueries) compared(s history.Snapshot) map[string][]history.Row {
	if !q.target.AsksItself() {
		return s.Rows
	}
	rows := map[string][]history.Row{}
	for _, asked := range q.questions {
		of := q.target.Operations[asked.Operation].Rows
		for _, marker := range asked.Markers {
			rows[marker] = []history.Row{}
			for _, row := range s.Rows[marker] {
				rows[marker] = append(rows[marker], namedColumns(row, of))
			}
			slices.SortFunc(rows[marker], func(a, b history.Row) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	return rows
}

// namedColumns returns the columns that a target file names.
func namedColumns(row history.Row, of contract.Rows) history.Row {
	kept := history.Row{}
	for name, value := range row {
		if _, named := of.Content[name]; named || name == of.Identity {
			kept[name] = value
		}
	}
	return kept
}
