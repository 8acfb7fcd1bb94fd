package orders_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
)

func TestASecondClickIsLedToTheFirstOrder(t *testing.T) {
	promise(t, "form-token", func(t *testing.T, s subject, w intent) {
		for _, got := range s.together(t.Context(), slices.Repeat([]intent{w, alter(w)}, 6)) {
			require.Equal(t, http.StatusSeeOther, got.status, got.body)
			require.Equal(t, s.must(t, w).header.Get("Location"), got.header.Get("Location"))
		}
		require.Len(t, append(s.rows(t, w.note), s.rows(t, alter(w).note)...), 1)
		require.Equal(t, http.StatusOK, s.get(t, s.must(t, w).header.Get("Location")).status)
	})
}

func TestAFormIsItsCustomers(t *testing.T) {
	promise(t, "form-token", func(t *testing.T, s subject, w intent) {
		_, op := s.render(w)
		for _, who := range []string{"alice", "bob"} {
			for _, token := range []string{s.keyOf(w, op), "form_made_up", ""} {
				if who == "alice" && token == s.keyOf(w, op) {
					continue
				}
				got := s.submit(t, w.by(who), token)
				require.Equal(t, http.StatusForbidden, got.status)
				require.Equal(t, "form_unknown", got.member("code"))
			}
		}
		require.Empty(t, s.rows(t, w.note))
		require.Equal(t, http.StatusSeeOther, s.submit(t, w, s.keyOf(w, op)).status, "nobody has taken it away")
		require.Equal(t, http.StatusForbidden, s.submit(t, w.by("bob"), s.keyOf(w, op)).status, "nor is anybody else led to the order")
	})
}

// submit sends a form with this token.
func (s subject) submit(t *testing.T, w intent, token string) reply {
	t.Helper()
	r, op := s.render(w)
	require.NoError(t, op.PlaceKey(&r, token))
	got, err := s.sendRendered(t.Context(), r)
	require.NoError(t, err)
	return got
}

func TestARefusedFormMayBeCorrected(t *testing.T) {
	promise(t, "form-token", func(t *testing.T, s subject, w intent) {
		wrong := w
		wrong.amount = -1
		require.Equal(t, "invalid_body", s.must(t, wrong).member("code"))
		require.Equal(t, http.StatusSeeOther, s.must(t, w).status)
	})
}

func TestEachPageHasATokenOfItsOwn(t *testing.T) {
	promise(t, "form-token", func(t *testing.T, s subject, _ intent) {
		first, second := s.get(t, "/form"), s.get(t, "/form")
		require.Equal(t, "text/html", first.header.Get("Content-Type"))
		require.NotEqual(t, first.body, second.body)
		stranger, err := s.sendRendered(t.Context(), targets.Rendered{Method: http.MethodGet, Path: "/form"})
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, stranger.status)
	})
}
