package learn

import (
	"fmt"
	"reflect"

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
	fmt.Fprintf(i.Said, "%s\ntrying with the source's User-Agent, as a session may be bound to it\n", why)
	return true
}

const userAgent = "User-Agent"

// knownRefusal says why a create had no effect that is answered with the failure of one before it, which had none: what holds its marker, such as a
// log or a session, is nothing that was created. Empty: it may have had one.
func knownRefusal(i *inquiry, answer drafting.Answer) string {
	told := drafting.Failing(answer)
	if len(told.Denied) == 0 {
		return ""
	}
	for _, before := range i.failed {
		if before.Status == told.Status && before.DeniedAt == told.DeniedAt && reflect.DeepEqual(before.Denied, told.Denied) {
			showRefusal(i, told)
			return noRow(told)
		}
	}
	return ""
}

// noRow says that a create had no effect, by its answer.
func noRow(refused drafting.Answer) string {
	return fmt.Sprintf("the create was answered %d, no row has its marker, and %s of the answer says what went wrong: mend the sample body in the file, or what the target misses.", refused.Status, refused.DeniedAt)
}
