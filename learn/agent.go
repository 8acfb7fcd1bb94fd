package learn

import (
	"fmt"
	"reflect"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// agent is the User-Agent of the source's client, and what a create was answered without it.
type agent struct {
	sent    bool
	without drafting.Answer
}

// asItsClient lets creates have the User-Agent of the source's client where one had no effect, since a session may be bound to it. If that
// changes nothing, they are sent without it again: runs then try other clients.
func asItsClient(i *inquiry, answer drafting.Answer, why string) bool {
	d, told := &i.file.Draft, drafting.Failing(answer)
	switch {
	case i.agent.sent && d.Agent != "" && answer.Status == i.agent.without.Status && reflect.DeepEqual(told.Denied, i.agent.without.Denied):
		delete(d.Header, userAgent)
		d.Agent = ""
		return false
	case i.agent.sent || d.Agent == "" || answer.Status == 0 || answer.Status >= 500 || why == "":
		return false
	}
	i.agent, d.Header[userAgent] = agent{true, told}, d.Agent
	i.declined = nil // as another client, which runs are not
	fmt.Fprintf(i.Said, "%s\ntrying with the source's User-Agent, as a session may be bound to it\n", why)
	return true
}

const userAgent = "User-Agent"

// failedAlike is the first create that had no effect and said the same failure; nil: there is none. What holds the marker of one that says so, too,
// such as a log or a session, is nothing that was created.
func failedAlike(i *inquiry, answer drafting.Answer) *drafting.Answer {
	told := drafting.Failing(answer)
	for n, before := range i.failed {
		if len(told.Denied) > 0 && before.Status == told.Status && before.DeniedAt == told.DeniedAt && reflect.DeepEqual(before.Denied, told.Denied) {
			return &i.failed[n]
		}
	}
	return nil
}

// namesAnother reports that an answer names something, and another thing than the failed one did: then its failure may be of something beside the
// create, such as a mail that was not sent, and rows tell.
func namesAnother(before, answer drafting.Answer) (names bool) {
	drafting.Scalars("", answer.Body, func(pointer string, value any) {
		other, there := jsonpointer.Resolve(before.Body, pointer)
		names = names || drafting.Named(pointer) && there && !reflect.DeepEqual(value, other)
	})
	return names
}

// refusedAlike is the answer as a refusal, which is shown, and why the create had no effect: one before it said the same, and had none.
func refusedAlike(i *inquiry, answer drafting.Answer) (told drafting.Answer, why string) {
	told = drafting.Failing(answer)
	showRefusal(i, told)
	return told, fmt.Sprintf("the create was answered %d like one that left no row with its marker, and %s of the answer says what went wrong: mend the sample body in the file, or what the target misses.", told.Status, told.DeniedAt)
}
