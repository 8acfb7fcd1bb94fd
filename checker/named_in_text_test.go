package checker_test

import (
	"strings"
	"testing"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// inXML is an acknowledgement in XML.
func inXML(body string) history.Attempt {
	a := answer(201, body)
	a.Header = map[string]string{"Content-Type": "text/xml"}
	return a
}

// In a body that is no JSON, a pattern finds the name of what was created.
func TestNamesInABodyThatIsNoJSON(t *testing.T) {
	t.Parallel()
	named := terms(func(t *checker.Terms) {
		t.Contract.Ack.Signature = contract.Signature{Statuses: []int{201}}
		t.Contract.Replay = contract.Replay{Body: contract.SameIdentity}
		t.Operation.Identity = contract.Identity{Pattern: "<Id>(o[0-9a-z]+)</Id>"}
	})
	long := inXML(strings.Repeat(" ", 64))
	long.Digest = "1f"
	early := inXML("<Id>o1</Id>")
	early.Digest = "2f"
	for _, c := range []struct {
		name  string
		story *draft
		want  []string
		why   string
	}{
		{name: "the same one again is right, whatever stands beside it", story: story(inXML("<Id>o1</Id><At>1</At>")).rows(1).probe(inXML("<At>2</At><Id>o1</Id>"))},
		{name: "another one is an unequal replay", story: story(inXML("<Id>o1</Id>")).rows(1).probe(inXML("<Id>o2</Id>")), want: []string{"replay-mismatch/identity"}},
		{name: "one that is not the row is an unequal replay", story: story(inXML("<Id>o2</Id>")).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "none is an unequal replay", story: story(inXML("<Id>o1</Id>")).rows(1).probe(inXML("<Id/>")), want: []string{"replay-mismatch/identity"}},
		{name: "in the part of a long body that is not on record it is not known", story: story(inXML("<Id>o1</Id>")).rows(1).probe(long), why: "only the beginning of the body is on record"},
		{name: "in the part of a long body that is on record it is", story: story(inXML("<Id>o1</Id>")).rows(1).probe(early)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			healthy := story(inXML("<Id>ok</Id>")).named("i0").holding("ok")
			judge(t, scenes([]*draft{c.story, healthy}), named, c.want, c.why)
		})
	}
}
