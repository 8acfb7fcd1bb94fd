package checker_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// drawPassing returns a history of a correct model that passes, and its contract.
func drawPassing(t *rapid.T) (*history.History, checker.Terms) {
	designs := correctDesigns()
	designs = slices.DeleteFunc(designs, func(d design) bool { return d.keyless || d.excused })
	d := rapid.SampledFrom(designs).Draw(t, "design")
	w := play(d, rapid.Uint64().Draw(t, "seed"))
	w.story.Run.Exercised = []history.Proof{{Name: string(proofs.Acknowledged)}}
	r := check(w.story, d.terms)
	require.Empty(t, r.Findings)
	if r.Verdict != checker.Pass {
		t.Skip("not exercised")
	}
	return w.story, d.terms
}

func TestASecondRowIsAlwaysADuplicate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, terms := drawPassing(t)
		marker := rapid.SampledFrom(slices.Sorted(maps.Keys(h.T2.Rows))).Filter(func(marker string) bool { return !refusedMarker(h, marker) }).Draw(t, "marker")
		groups := map[string]bool{}
		for _, a := range h.Attempts {
			switch {
			case terms.Contract.Expiry.After > 0: // each may have come after the last was forgotten
				groups[a.ID] = true
			case len(terms.Contract.NaturalKey) == 0:
				groups[a.Intent+a.Key] = true
			}
		}
		rows := h.T2.Rows[marker]
		for len(rows) <= max(1, len(groups)) { // twins share a marker, so one row more than there are intents
			rows = append(rows, history.Row{"id": "another"})
		}
		s := rapid.SampledFrom([]*history.Snapshot{h.T1, h.T2}).Draw(t, "moment")
		s.Rows[marker] = rows
		r := check(h, terms)
		require.Equal(t, checker.Fail, r.Verdict)
		require.Equal(t, string(checker.Duplicate), found(r)[0])
	})
}

// refusedMarker reports that a marker is that of a body that was invalid.
func refusedMarker(h *history.History, marker string) bool {
	return slices.ContainsFunc(h.Intents, func(i history.Intent) bool { return i.Bodies[history.Invalid].Marker == marker })
}

func TestAnAcknowledgedRowThatIsGoneIsAlwaysALostWrite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, terms := drawPassing(t)
		s := rapid.SampledFrom([]*history.Snapshot{h.T1, h.T2}).Draw(t, "moment")
		acknowledged := slices.ContainsFunc(h.Attempts, func(a history.Attempt) bool {
			return a.End <= s.At && terms.Classify(a) == checker.Acknowledged
		})
		if !acknowledged {
			t.Skip("nothing was acknowledged before this snapshot")
		}
		for marker := range s.Rows {
			s.Rows[marker] = nil
		}
		r := check(h, terms)
		require.Equal(t, checker.Fail, r.Verdict)
		require.Contains(t, found(r), string(checker.LostWrite))
	})
}

func TestCheckChangesNothingAndRepeatsItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		designs := append(correctDesigns(), brokenDesigns()...)
		d := rapid.SampledFrom(designs).Draw(t, "design")
		w := play(d, rapid.Uint64().Draw(t, "seed"))
		before := written(t, w.story)
		first := check(w.story, d.terms)
		require.Equal(t, first, check(w.story, d.terms))
		require.Equal(t, before, written(t, w.story))
	})
}

// A history that went through a file is judged as the one that did not.
func TestCheckOfAFileIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		designs := append(correctDesigns(), brokenDesigns()...)
		d := rapid.SampledFrom(designs).Draw(t, "design")
		if d.terms.Contract.Level == "" {
			d.terms = modelTerms()
		}
		w := play(d, rapid.Uint64().Draw(t, "seed"))
		again, err := history.Read(bytes.NewReader(written(t, w.story)))
		require.NoError(t, err)
		require.Equal(t, found(check(w.story, d.terms)), found(check(again, d.terms)))
		require.Equal(t, check(w.story, d.terms).Verdict, check(again, d.terms).Verdict)
	})
}

// written is a history as a file.
func written(t require.TestingT, h *history.History) []byte {
	var file bytes.Buffer
	w := history.NewWriter(&file)
	w.Run(h.Run)
	for _, i := range h.Intents {
		w.Intent(i)
	}
	for _, a := range h.Attempts {
		w.Begin(history.Attempt{ID: a.ID, Intent: a.Intent, Start: a.Start})
		if a.End != 0 {
			w.Attempt(a)
		}
		if a.Passage != nil {
			w.Passage(a.ID, *a.Passage)
		}
	}
	for _, f := range h.Followups {
		w.Followup(f)
	}
	for _, k := range h.Crashes {
		w.Crash(k)
	}
	for i, s := range []*history.Snapshot{h.Before, h.T1, h.T2} {
		if s != nil {
			w.Snapshot([]string{history.BeforeName, history.T1Name, history.T2Name}[i], *s)
		}
	}
	w.Complete()
	require.NoError(t, w.Err())
	return file.Bytes()
}

// FuzzCheck judges whatever can be read, under contracts of every kind.
func FuzzCheck(f *testing.F) {
	for _, h := range []*history.History{right(), wrong(), counted(right(), 3), scene(story(acknowledged(201, "o1"), altered(mismatch())).rows(1).and())} {
		f.Add(written(f, h))
	}
	for _, d := range correctDesigns() {
		f.Add(written(f, play(d, 1).story))
	}
	contracts := []checker.Terms{{}, terms(), terms(naturalKey, replayMarked, store4xx, store5xx), terms(dedupOnly), terms(replayFirst, replayMarked, keyRequired)}
	f.Fuzz(func(t *testing.T, file []byte) {
		h, err := history.Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		for _, terms := range contracts {
			r := check(h, terms)
			require.Equal(t, len(r.Findings) > 0, r.Verdict == checker.Fail)
			if r.Verdict == checker.Pass {
				require.True(t, h.Complete && h.T1 != nil && h.T2 != nil && len(r.Exercise) > 0)
			}
		}
	})
}
