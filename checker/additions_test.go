package checker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// summed lets each execution add its amount to one row.
func summed(t *checker.Terms) { t.Operation.Rows.Adds = "amount" }

// TestAdditionsToARow holds that what a row sums up is counted: each intent adds once.
func TestAdditionsToARow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sum  any
		want []string
	}{
		{1200.0, nil},
		{2400.0, []string{"duplicate"}},
		{3600.0, []string{"duplicate"}},
		{1200.0 * 20_000, []string{"altered-body-violation/content"}},
		{1300.0, []string{"altered-body-violation/content"}},
		{0.0, []string{"altered-body-violation/content"}},
		{"a lot", []string{"altered-body-violation/content"}},
	} {
		t.Run(fmt.Sprint(c.sum), func(t *testing.T) {
			t.Parallel()
			h := amounts(scene(story(acknowledged(201, "o1"), acknowledged(201, "o1")).rows(1)), "dti1", c.sum)
			judge(t, h, terms(summed), c.want, "")
			if c.sum == 2400.0 {
				require.Contains(t, check(h, terms(summed)).Findings[0].Observed, "2 additions of 1200 to amount")
			}
		})
	}
}

// TestAdditionsOfNoNumber holds that what a body says in words is compared, and adds nothing.
func TestAdditionsOfNoNumber(t *testing.T) {
	t.Parallel()
	words := func(t *checker.Terms) {
		summed(t)
		t.Operation.Rows.Content = map[string]string{"amount": "/note"}
	}
	h := amounts(scene(story(acknowledged(201, "o1"), acknowledged(201, "o1")).rows(1)), "dti1", 2400.0)
	judge(t, h, terms(words), []string{"altered-body-violation/content"}, "")

	b := h.Intents[0].Bodies[history.Original]
	b.Content = strings.Replace(b.Content, "1200", "0", 1)
	h.Intents[0].Bodies[history.Original] = b
	judge(t, h, terms(summed), []string{"altered-body-violation/content"}, "")
}

// TestAdditionsOfTwins holds that two intents with equal bodies add to one row, each once.
func TestAdditionsOfTwins(t *testing.T) {
	t.Parallel()
	for sum, want := range map[float64][]string{
		1200: {"lost-acknowledged-write"},
		2400: nil,
		3600: {"duplicate"},
	} {
		one := story(acknowledged(201, "o1")).twinOf("dttwin").rows(1)
		other := story(acknowledged(201, "o1")).named("i2").twinOf("dttwin")
		h := amounts(scene(one, other), "dttwin", sum)
		judge(t, h, terms(summed), want, "")
	}
}
