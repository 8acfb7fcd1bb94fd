package checker_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// check judges a history as a whole and in parts, as small as they can be: the two are to be the same.
func check(h *history.History, terms checker.Terms, known ...checker.KnownBug) checker.Result {
	want := checker.Check(h, terms, known...)
	got, err := checker.CheckParts(split(h), terms, known...)
	if err != nil {
		panic(err)
	}
	if a, b := lastingForm(want), lastingForm(got); a != b {
		panic(fmt.Sprintf("as a whole:\n%s\nin parts:\n%s", a, b))
	}
	return want
}

// lastingForm is a result as it is once it was written and read.
func lastingForm(r checker.Result) string {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// splitHistory is a history in memory, in parts.
type splitHistory struct {
	head  history.History
	parts []history.History
}

func (s splitHistory) Head() *history.History { return &s.head }

func (s splitHistory) Len() int { return len(s.parts) }

func (s splitHistory) Part(i int) (*history.History, error) { return &s.parts[i], nil }

func (s splitHistory) Several() bool {
	who := map[string]bool{}
	for _, h := range s.parts {
		for _, i := range h.Intents {
			who[i.Principal] = true
		}
	}
	return len(who) > 1
}

// split gives each marker, with the neighbours of its intents, a part of its own. Messages may be of any intent, so that a
// history with some stays whole.
func split(h *history.History) splitHistory {
	s := splitHistory{head: *h}
	if len(h.Messages) > 0 || len(h.Intents) == 0 {
		s.parts = []history.History{*h}
		return s
	}
	group := map[string]string{} // of a name: another of its part
	var root func(string) string
	root = func(name string) string {
		if group[name] == "" || group[name] == name {
			return name
		}
		return root(group[name])
	}
	for _, i := range h.Intents {
		names := []string{"intent " + i.ID}
		if i.Kin != "" {
			names = append(names, "intent "+i.Kin)
		}
		for _, b := range i.Bodies {
			names = append(names, "marker "+b.Marker)
		}
		for _, name := range names {
			group[root(name)] = root(names[0])
		}
	}
	bare := *h
	bare.Intents, bare.Attempts, bare.Followups, bare.Sightings = nil, nil, nil, nil
	at, ofAttempt := map[string]int{}, map[string]string{}
	for _, i := range h.Intents {
		r := root("intent " + i.ID)
		if _, known := at[r]; !known {
			at[r] = len(s.parts)
			s.parts = append(s.parts, bare)
		}
		s.parts[at[r]].Intents = append(s.parts[at[r]].Intents, i)
	}
	of := func(intent string) *history.History { return &s.parts[at[root("intent "+intent)]] }
	for _, a := range h.Attempts {
		ofAttempt[a.ID] = a.Intent
		of(a.Intent).Attempts = append(of(a.Intent).Attempts, a)
	}
	for _, f := range h.Followups {
		p := of(ofAttempt[f.Attempt])
		p.Followups = append(p.Followups, f)
	}
	for _, seen := range h.Sightings {
		p := of(seen.Intent)
		p.Sightings = append(p.Sightings, seen)
	}
	for i := range s.parts {
		p := &s.parts[i]
		markers := map[string]bool{}
		for _, i := range p.Intents {
			for _, b := range i.Bodies {
				markers[b.Marker] = true
			}
		}
		p.Before, p.T1, p.T2 = only(h.Before, markers), only(h.T1, markers), only(h.T2, markers)
	}
	s.head = bare
	s.head.Before, s.head.T1, s.head.T2 = only(h.Before, nil), only(h.T1, nil), only(h.T2, nil)
	return s
}

// only is a snapshot with the rows and effects of some markers, and with totals.
func only(s *history.Snapshot, markers map[string]bool) *history.Snapshot {
	if s == nil {
		return nil
	}
	some := *s
	some.Rows, some.Effects = map[string][]history.Row{}, maps.Clone(s.Effects)
	for marker := range markers {
		if rows, asked := s.Rows[marker]; asked {
			some.Rows[marker] = rows
		}
	}
	for name, numbers := range some.Effects {
		some.Effects[name] = map[string]float64{}
		for marker, n := range numbers {
			if marker == "" || markers[marker] {
				some.Effects[name][marker] = n
			}
		}
	}
	return &some
}

// sameInParts judges a file in parts.
func sameInParts(t *testing.T, want checker.Result, text []byte, intents int, terms checker.Terms, known ...checker.KnownBug) {
	t.Helper()
	parts, err := history.Index(bytes.NewReader(text), int64(len(text)), history.IndexOptions{Intents: intents})
	require.NoError(t, err)
	got, err := checker.CheckParts(parts, terms, known...)
	require.NoError(t, err)
	require.Equal(t, lastingForm(want), lastingForm(got), "in %d parts", parts.Len())
}

// TestRecordedRunsAreTheSameInParts judges every recorded run in parts of several sizes.
func TestRecordedRunsAreTheSameInParts(t *testing.T) {
	t.Parallel()
	several := 0
	for _, name := range recordedNames(t) {
		var run recordedRun
		readJSON(t, &run, recorded, name, "run.json")
		for _, s := range run.Scenarios {
			h := readRecorded(t, name, s.Scenario)
			if h == nil {
				continue
			}
			text, err := os.ReadFile(filepath.Join(recorded, name, s.Scenario, "history.jsonl"))
			require.NoError(t, err)
			want := checker.Check(h, run.Terms, s.Known...)
			for _, intents := range []int{1, 2, 7} {
				sameInParts(t, want, text, intents, run.Terms, s.Known...)
			}
			if len(h.Intents) > 1 && len(h.Messages) == 0 {
				several++
			}
		}
	}
	require.Greater(t, several, 30, "histories with more than one part")
}

// TestDefectsInManyPartsAreAllFound judges intents that break in several ways, and more that do not.
func TestDefectsInManyPartsAreAllFound(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	var drafts []*draft
	for i := range 300 {
		d := story(acknowledged(201, "o1"), acknowledged(201, "o1"))
		switch random.IntN(6) {
		case 0:
			d = d.rows(2)
		case 1:
			d = d.rows(0)
		case 2:
			d = story(acknowledged(201, "o1"), serverError()).rows(1).probe(serverError())
		default:
			d = d.rows(1)
		}
		drafts = append(drafts, d.named(nameOfIntent(i)))
	}
	r := check(scene(drafts...), terms())
	require.Equal(t, checker.Fail, r.Verdict)
	require.Greater(t, len(found(r)), 2)
}

func nameOfIntent(i int) string { return "i" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }

func TestALargeRunListsTheWorstAndCountsTheRest(t *testing.T) {
	t.Parallel()
	var drafts []*draft
	for i := range 2500 {
		a := acknowledged(201, fmt.Sprintf("o%d", i))
		d := story(a, a).named(fmt.Sprintf("i%d", i)).holding(fmt.Sprintf("o%d", i), fmt.Sprintf("p%d", i))
		if i == 2400 {
			d = story(a, a).named(fmt.Sprintf("i%d", i)).rows(0)
		}
		drafts = append(drafts, d)
	}
	r := check(scene(drafts...), terms())
	require.Equal(t, checker.Fail, r.Verdict)
	require.Equal(t, 2500, r.Failed)
	require.LessOrEqual(t, len(r.Findings), 1000)
	listed := map[checker.Kind]int{}
	for _, f := range r.Findings {
		listed[f.Kind]++
	}
	require.Equal(t, 1, listed[checker.LostWrite], "what is rare is listed")
	require.Equal(t, map[checker.Kind]int{checker.Duplicate: 2499 - listed[checker.Duplicate]}, r.Unlisted)
	require.Contains(t, r.Warnings[len(r.Warnings)-1].Text, fmt.Sprintf("%d more findings", r.Unlisted[checker.Duplicate]))
}
