package orders_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
)

// changed sends the change of an intent as it is rendered, but for what edit does to it.
func (s subject) changed(t *testing.T, w intent, edit func(r *targets.Rendered)) reply {
	t.Helper()
	r, _ := s.render(w)
	edit(&r)
	got, err := s.sendRendered(t.Context(), r)
	require.NoError(t, err)
	return got
}

// to is an edit that asks for another state.
func to(state string) func(r *targets.Rendered) {
	return func(r *targets.Rendered) { r.Body = []byte(`{"state":"` + state + `"}`) }
}

// A late request is told what the order is, and not that its change was made.
func TestAnOrderThatWentAnotherWayIsAConflict(t *testing.T) {
	promise(t, "state-machine", func(t *testing.T, s subject, w intent) {
		before := s.deltas(t)
		require.Equal(t, "cancelled", s.changed(t, w, to("cancelled")).member("state"))
		require.Equal(t, "cancelled", s.changed(t, w, to("cancelled")).member("state"))
		late := s.must(t, w)
		require.Equal(t, http.StatusConflict, late.status)
		require.Equal(t, "other_state", late.member("code"))
		require.Empty(t, s.rows(t, w.note))
		s.requireEffects(t, before)
		require.Equal(t, "invalid_body", s.changed(t, w, to("placed")).member("code"))
	})
}

func TestOfTwoStepsAnOrderTakesOne(t *testing.T) {
	promise(t, "state-machine", func(t *testing.T, s subject, w intent) {
		before := s.deltas(t)
		cancel, _ := s.render(w)
		to("cancelled")(&cancel)
		var cancelled reply
		var leaving sync.WaitGroup
		leaving.Go(func() { cancelled, _ = s.sendRendered(t.Context(), cancel) })
		confirmed := s.together(t.Context(), []intent{w, w, w})
		leaving.Wait()
		statuses := []int{cancelled.status, confirmed[0].status, confirmed[1].status, confirmed[2].status}
		if rows := s.rows(t, w.note); len(rows) == 1 {
			require.Equal(t, []int{409, 200, 200, 200}, statuses)
			s.requireEffects(t, before, w.note)
			return
		}
		require.Equal(t, []int{200, 409, 409, 409}, statuses)
		s.requireEffects(t, before)
	})
}

func TestNobodyChangesTheOrderOfSomebodyElse(t *testing.T) {
	for _, design := range []string{"state-machine", "if-match"} {
		t.Run(design, func(t *testing.T) {
			promise(t, design, func(t *testing.T, s subject, w intent) {
				theirs, _ := s.render(w.by("bob"))
				got := s.changed(t, w, func(r *targets.Rendered) { r.Header = theirs.Header })
				require.Equal(t, http.StatusNotFound, got.status)
				require.Empty(t, s.rows(t, w.note))
			})
		})
	}
}

func TestAVersionIsGoodForOneChange(t *testing.T) {
	promise(t, "if-match", func(t *testing.T, s subject, w intent) {
		told := s.together(t.Context(), slices.Repeat([]intent{w, alter(w)}, 6))
		slices.SortFunc(told, func(a, b reply) int { return a.status - b.status })
		require.Equal(t, http.StatusOK, told[0].status)
		for _, late := range told[1:] {
			require.Equal(t, http.StatusPreconditionFailed, late.status)
			require.Equal(t, told[0].member("id"), late.member("id"))
			require.Equal(t, `"2"`, late.header.Get("ETag"))
		}
		read := s.get(t, "/orders/"+told[0].member("id"))
		require.Equal(t, told[0].body, read.body, "it is as the only one was told")

		next := alter(w)
		next.note += "-again"
		got := s.changed(t, next, func(r *targets.Rendered) { r.Header["If-Match"] = `"2"` })
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, `"3"`, got.header.Get("ETag"))
		require.Len(t, s.rows(t, next.note), 1)
	})
}

func TestAChangeWithoutAVersionIsRefused(t *testing.T) {
	promise(t, "if-match", func(t *testing.T, s subject, w intent) {
		for _, tag := range []string{"", "*", "1", `"x"`} {
			got := s.changed(t, w, func(r *targets.Rendered) { r.Header["If-Match"] = tag })
			require.Equal(t, http.StatusPreconditionRequired, got.status, tag)
			require.Equal(t, "version_required", got.member("code"))
		}
		require.Equal(t, "invalid_body", s.changed(t, w, func(r *targets.Rendered) { r.Body = []byte(`{"amount":-1}`) }).member("code"))
		require.Empty(t, s.rows(t, w.note))
		require.Equal(t, http.StatusOK, s.must(t, w).status)
	})
}
