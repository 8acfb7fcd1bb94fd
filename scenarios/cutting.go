package scenarios

import (
	"strconv"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
)

// Cutting says when a link breaks: at a moment, or part of the way through those of a create.
type Cutting struct {
	Link   string        `json:"link"`
	Moment faults.Moment `json:"moment,omitempty"` // empty: by Part
	Part   float64       `json:"part"`             // 0 to 1, drawn from the seed
	For    time.Duration `json:"for"`
}

// Passing is what a plain create of the pilot sent over a link.
type Passing struct {
	Moments int // questions and answers
	Begins  int // questions that begin a transaction
	Commits int // questions that ask for a commit
	Writes  int // questions that carry the marker or the reference

	After bool // nothing passes while a create is inside, and something does when it is answered
}

// At returns the moment for a create that does the same as the pilot's. Where that asked for no commit, each write is
// one; where it showed no marker, the moment has a number.
func (c Cutting) At(p Passing) faults.Moment {
	word, nth := c.Moment.Word()
	if p.Moments > 0 && p.Commits == 0 {
		switch word {
		case faults.AtCommit:
			word = faults.AtWrite
		case faults.AtCommitted:
			word = faults.AtWritten
		}
	}
	switch {
	case word == "":
		return c.Counted(p.Moments)
	case word != faults.AtWrite && word != faults.AtWritten:
		return word
	case p.Moments > 0 && p.Writes == 0:
		return c.Counted(p.Moments)
	case nth > 0:
		return word.Nth(nth)
	default:
		return word.Nth(1 + int(c.Part*float64(p.Writes)))
	}
}

// Counted returns the moment by its number, even if it has a word. A new connection exchanges more messages than the
// pilot's did, so the moments reach half as far again.
func (c Cutting) Counted(moments int) faults.Moment {
	n := 1 + int(c.Part*float64(moments+moments/2))
	if word, _ := c.Moment.Word(); word == faults.AtCommitted || word == faults.AtWritten {
		n += n % 2 // an answer
	}
	return faults.Moment(strconv.Itoa(n))
}
