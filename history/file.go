package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
)

// record is one line of the file; exactly one member is set. Its name says what kind the
// line is, so that a reader finds it in the first bytes (see aboutLine).
type record struct {
	Run      *Run            `json:"run,omitempty"`
	Step     *Step           `json:"step,omitempty"`
	Intent   *Intent         `json:"intent,omitempty"`
	Begun    *Attempt        `json:"begun,omitempty"`
	Attempt  *Attempt        `json:"attempt,omitempty"`
	Passage  *passageOf      `json:"passage,omitempty"`
	Followup *Followup       `json:"followup,omitempty"`
	Sighting *Sighting       `json:"sighting,omitempty"`
	Holding  *Holding        `json:"holding,omitempty"`
	Crash    *Crash          `json:"crash,omitempty"`
	Death    *Death          `json:"death,omitempty"`
	Flush    *Flush          `json:"flush,omitempty"`
	Removal  *Removal        `json:"removal,omitempty"`
	Printed  *Printed        `json:"printed,omitempty"`
	Message  *Message        `json:"message,omitempty"`
	Traffic  *Traffic        `json:"traffic,omitempty"`
	Received *Received       `json:"received,omitempty"`
	Snapshot *snapshotRecord `json:"snapshot,omitempty"`
	Incident *Incident       `json:"incident,omitempty"`
	Complete bool            `json:"complete,omitempty"`
}

// passageOf is a passage with the attempt that it belongs to: it is known after the
// attempt has been written, so it has a line of its own.
type passageOf struct {
	Attempt string `json:"attempt"`
	Passage
}

// snapshotRecord is a snapshot, or some markers of one that takes several lines.
type snapshotRecord struct {
	Name string `json:"name"`
	Snapshot
	More bool `json:"more,omitempty"` // the next line with this name goes on with it
}

// Names under which snapshots stand in the file.
const (
	BeforeName = "before"
	T1Name     = "T1"
	T2Name     = "T2"
)

// Writer appends facts to a history file. Each call is one write of one line, so a reader
// finds everything up to the moment at which the process died. Nothing is buffered, and
// nothing is synced to the disk: a death of this process loses no line, one of the machine
// may. Safe for concurrent use. After the first failed write every call returns that
// error, so callers that cannot do anything about it may ignore it, and ask [Writer.Err]
// later.
type Writer struct {
	mu  sync.Mutex
	out io.Writer
	err error
}

// NewWriter returns a writer that appends to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Err returns the first error of any write, nil while all went well.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Run writes the head. It comes first.
func (w *Writer) Run(r Run) error { return w.write(record{Run: &r}) }

// Step writes a step that has ended.
func (w *Writer) Step(s Step) error { return w.write(record{Step: &s}) }

// Intent writes an intent. It comes before the intent's attempts.
func (w *Writer) Intent(i Intent) error { return w.write(record{Intent: &i}) }

// Begin notes that an attempt is about to be sent. It must return before the first byte is
// sent: if the process dies then, the reader knows that the target may have seen the
// request.
func (w *Writer) Begin(a Attempt) error { return w.write(record{Begun: &a}) }

// Attempt writes a finished attempt.
func (w *Writer) Attempt(a Attempt) error { return w.write(record{Attempt: &a}) }

// Passage writes what the upstream tap saw of an attempt. It comes after the attempt.
func (w *Writer) Passage(attempt string, p Passage) error {
	return w.write(record{Passage: &passageOf{Attempt: attempt, Passage: p}})
}

// Followup writes what became of an accepted attempt. It comes after the attempt.
func (w *Writer) Followup(f Followup) error { return w.write(record{Followup: &f}) }

// Sighting writes a look into the database.
func (w *Writer) Sighting(s Sighting) error { return w.write(record{Sighting: &s}) }

// Holding writes a time that the writers of a table were held back.
func (w *Writer) Holding(h Holding) error { return w.write(record{Holding: &h}) }

// Crash writes a time that the target's process was killed. It comes after the attempt has begun.
func (w *Writer) Crash(c Crash) error { return w.write(record{Crash: &c}) }

// Death writes a time that a process of the target ended by itself.
func (w *Writer) Death(d Death) error { return w.write(record{Death: &d}) }

// Removal writes a time that what an intent had made was removed.
func (w *Writer) Removal(r Removal) error { return w.write(record{Removal: &r}) }

// Flush writes a time that the target's store lost what it held.
func (w *Writer) Flush(f Flush) error { return w.write(record{Flush: &f}) }

// Message writes what reached a sink.
func (w *Writer) Message(m Message) error { return w.write(record{Message: &m}) }

// Printed writes a line that the target printed.
func (w *Writer) Printed(p Printed) error { return w.write(record{Printed: &p}) }

// Traffic writes what passed a link.
func (w *Writer) Traffic(t Traffic) error { return w.write(record{Traffic: &t}) }

// Received writes the target's own count.
func (w *Writer) Received(r Received) error { return w.write(record{Received: &r}) }

// rowsInLine is how many markers of a snapshot are in one line, so that a reader needs little memory.
const rowsInLine = 1000

// Snapshot writes a snapshot under one of the three names. A large one takes several lines.
func (w *Writer) Snapshot(name string, s Snapshot) error {
	if len(s.Rows) <= rowsInLine {
		return w.write(record{Snapshot: &snapshotRecord{Name: name, Snapshot: s}})
	}
	order := slices.DeleteFunc(slices.Clone(s.Order), func(marker string) bool { _, asked := s.Rows[marker]; return !asked })
	if len(order) != len(s.Rows) {
		order = slices.Sorted(maps.Keys(s.Rows))
	}
	line, written := s, 0
	for some := range slices.Chunk(order, rowsInLine) {
		line.Rows, line.Effects = map[string][]Row{}, nil
		for _, marker := range some {
			line.Rows[marker] = s.Rows[marker]
		}
		for effect, numbers := range s.Effects {
			if line.Effects == nil {
				line.Effects = map[string]map[string]float64{}
			}
			line.Effects[effect] = map[string]float64{}
			for _, marker := range some {
				if n, asked := numbers[marker]; asked {
					line.Effects[effect][marker] = n
				}
			}
			if total, asked := numbers[""]; asked {
				line.Effects[effect][""] = total
			}
		}
		written += len(some)
		if err := w.write(record{Snapshot: &snapshotRecord{Name: name, Snapshot: line, More: written < len(order)}}); err != nil {
			return err
		}
		line = Snapshot{At: s.At} // what is of no marker is in the first line
	}
	return nil
}

// Incident writes an incident.
func (w *Writer) Incident(i Incident) error { return w.write(record{Incident: &i}) }

// Complete writes the last line. A history without it is not what was planned, and cannot
// pass.
func (w *Writer) Complete() error { return w.write(record{Complete: true}) }

// write writes one line in one call. What is encoded by two goroutines at once comes in
// either order; what has to come first is written first by its caller.
func (w *Writer) write(r record) error {
	line, err := json.Marshal(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if err == nil {
		_, err = w.out.Write(append(line, '\n'))
	}
	if err != nil {
		w.err = fmt.Errorf("write history: %w", err)
	}
	return w.err
}

// ErrDamaged is wrapped by every error that Read returns for a file it cannot trust.
var ErrDamaged = errors.New("damaged history")

// mostLine bounds one line of a history, in bytes. It keeps a reader of a file that is
// none, or was tampered with, from taking all memory.
const mostLine = 512 << 20

// readLine returns the next line with its line feed, or the error of the reader: of io.EOF, the line is one that was cut
// short. A long line that is no JSON object ends early, so that a file without any line feed is not read to its end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		case line[0] != '{':
			return line, nil
		case len(line) > mostLine:
			return nil, fmt.Errorf("%w: a line has more than %d MiB", ErrDamaged, mostLine>>20)
		}
	}
}

// Read reads a history as a whole. A last line that was cut short by a dying process is
// dropped and Complete stays false; any other damage is an error that names the line and
// wraps ErrDamaged. For a file of any size see [Index].
func Read(in io.Reader) (*History, error) {
	b := newBuilder()
	lines := bufio.NewReaderSize(in, 1<<16)
	for n := 1; ; n++ {
		line, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if errors.Is(err, io.EOF) {
			return b.finish()
		}
		if err := b.line(string(line)); err != nil {
			return nil, fmt.Errorf("history line %d: %w: %w", n, ErrDamaged, err)
		}
	}
}
