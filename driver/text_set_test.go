package driver

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestATextSetMasksAsAReplacerDoes compares it with the standard library's, which is built anew for each set.
func TestATextSetMasksAsAReplacerDoes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	letters := func(n int) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = "ab"[random.IntN(2)]
		}
		return string(text)
	}
	for range 2000 {
		set, texts := newTextSet(), []string{}
		for range 1 + random.IntN(6) {
			text := letters(ShortestSecret + random.IntN(6))
			set.add(text)
			texts = append(texts, text)
		}
		slices.SortFunc(texts, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
		var pairs, but []string
		public, named := letters(ShortestSecret+3), false
		for _, text := range texts {
			if len(text) <= len(public) && !named {
				but, named = append(but, public, public), true
			}
			pairs, but = append(pairs, text, masked), append(but, text, masked)
		}
		text := letters(60) + public + letters(60)
		require.Equal(t, strings.NewReplacer(pairs...).Replace(text), set.mask(text, ""), "%q in %q", texts, text)
		if named {
			require.Equal(t, strings.NewReplacer(but...).Replace(text), set.mask(text, public), "%q in %q, but not %q", texts, text, public)
		}
		n := ShortestSecret + random.IntN(len(texts[0])-ShortestSecret+1)
		if cut := "cc" + texts[0][:n]; n < len(texts[0]) {
			require.Equal(t, "cc"+masked, set.maskEnd(cut), "%q ends %q", texts, cut)
		}
	}
}

// TestASecretMoreCostsTheSameHoweverManyThereAre counts what is allocated: work that grows with the set would allocate for it.
func TestASecretMoreCostsTheSameHoweverManyThereAre(t *testing.T) {
	s := &secrets{texts: newTextSet()}
	more := 0
	one := func() {
		more++
		secret := fmt.Sprintf("session-%08d", more)
		s.keep([]string{secret})
		require.Equal(t, "/carts/"+masked, s.text("/carts/"+secret))
	}
	few := testing.AllocsPerRun(100, one)
	for range 1_000 {
		one()
	}
	require.InDelta(t, few, testing.AllocsPerRun(100, one), few/2)
}
