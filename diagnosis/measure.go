package diagnosis

import "slices"

// Measurement says how often the likely cause is right, where one design after the other is left out and judged by what all others
// showed.
type Measurement struct {
	Runs    int // of broken designs, on each of their databases
	First   int // in which the true defect came first
	Three   int // among the first three
	Unknown int // in which no cause was known
	Bins    [5]Bin
}

// Bin is guesses of about the same likelihood: a fifth of the range from 0 to 1.
type Bin struct {
	Count, Right int
	Sum          float64 // of the likelihoods
}

// Mean is the mean likelihood that was stated; 0: there is no guess.
func (b Bin) Mean() float64 {
	if b.Count == 0 {
		return 0
	}
	return b.Sum / float64(b.Count)
}

// Measure leaves out one design after the other, and asks a model of the others for its defect.
// Bins tell whether a stated likelihood is as often right as it says.
func Measure(all []Observed) Measurement {
	m := Measurement{}
	list := examples(all)
	for i, o := range all {
		ranked := fit(list, o.Design).rank(list[i].features)
		m.Runs++
		if !known(ranked) {
			m.Unknown++
			continue
		}
		at := slices.IndexFunc(ranked, func(g Guess) bool { return g.Defect == o.Defect })
		b := &m.Bins[min(int(ranked[0].Likelihood*float64(len(m.Bins))), len(m.Bins)-1)]
		b.Count++
		b.Sum += ranked[0].Likelihood
		if at == 0 {
			m.First++
			b.Right++
		}
		if at < 3 {
			m.Three++
		}
	}
	return m
}
