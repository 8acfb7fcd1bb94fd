package checker_test

import (
	"fmt"
	"testing"

	"github.com/doubletap-harness/doubletap/checker"
)

// summed lets each execution add its amount to one row.
func summed(t *checker.Terms) { t.Operation.Rows.Adds = "amount" }

// TestAdditionsToARow holds that what a row sums up is counted: each intent adds once.
func TestAdditionsToARow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sum  float64
		want []string
	}{
		{1200, nil},
		{2400, []string{"duplicate"}},
		{3600, []string{"duplicate"}},
		{1300, []string{"altered-body-violation/content"}},
		{0, []string{"altered-body-violation/content"}},
	} {
		t.Run(fmt.Sprint(c.sum), func(t *testing.T) {
			t.Parallel()
			h := amounts(scene(story(acknowledged(201, "o1"), acknowledged(201, "o1")).rows(1)), "dti1", c.sum)
			judge(t, h, terms(summed), c.want, "")
		})
	}
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
