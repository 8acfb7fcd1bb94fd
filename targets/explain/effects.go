package explain

import (
	"fmt"
	"strconv"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// effects says what is checked of the changes beyond the row.
func (x *explainer) effects() {
	if !x.rowsKnown() {
		return
	}
	for _, e := range x.operation.Effects {
		from, name := "effects: "+e.Name, english.Word(e.Name)
		most := "exactly"
		if e.Delivery == contract.SentAtMostOnce {
			most = "at most"
		}
		switch {
		case e.Seen != "":
			x.held(from, "Each created thing has %s %s of %s at the sink %s", most, english.Plural(e.Each(), "message"), name, english.Word(e.Seen))
			x.held(from, "All requests for %s of one intent carry one key of the target's own", name)
		case e.Rows != nil:
			x.held(from, "Each created thing has %s %s in %s", most, english.Plural(*e.Rows, "row"), name)
		case e.Value != nil && e.Delivery == contract.SentAtMostOnce:
			x.held(from, "For each created thing %s is at most %s", name, number(*e.Value))
		case e.Value != nil:
			x.held(from, "For each created thing %s is %s", name, number(*e.Value))
		case e.Delta != nil:
			says := fmt.Sprintf("Each created thing changes %s by %s", name, number(*e.Delta))
			if *e.Delta == 0 {
				says = "Nothing that is created changes " + name
			}
			x.held(from, "%s", says)
			x.weakened(from, "The change of %s is checked for all created things together, so only the run may change it meanwhile", name)
		}
	}
}

// number writes a number as a person does, without an exponent.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
