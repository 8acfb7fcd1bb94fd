package checker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

func TestProofsAreExplained(t *testing.T) {
	t.Parallel()
	texts := map[string]bool{}
	for _, p := range []proofs.Name{
		proofs.Acknowledged, proofs.Replayed, proofs.Overlapped, proofs.ResponseLost, proofs.RequestLost,
		proofs.CommittedBefore, proofs.RetriedRunning, proofs.Delayed, proofs.GaveUp, proofs.LeftRunning,
		proofs.BothBodies, proofs.DistinctKeys, proofs.KeysDiffer, proofs.KeyOmitted,
		proofs.Neighbours, proofs.Respelled, proofs.TurnedAway, proofs.Expired, proofs.RetriedLate, proofs.Looked,
		proofs.WritesHeld, proofs.Swept, proofs.Crashed, proofs.Restarted,
	} {
		h := right()
		h.Run.Exercised = []history.Proof{{Name: string(p)}}
		text := check(h, terms()).Exercise[0].Text
		require.NotContains(t, text, "unknown proof", p)
		require.False(t, texts[text], "%s says the same as another proof", p)
		texts[text] = true
	}
}

func TestAnAnswerBeforeItsRequestWasWrittenProvesNoDelay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lane    string
		attempt history.Attempt
		held    int
	}{
		"a slow answer on a slow lane":       {"slow", during(10, 90, acknowledged(201, "o1")), 1},
		"an answer before the last byte":     {"slow", unwritten(during(10, 90, acknowledged(201, "o1"))), 0},
		"a slow answer on a lane like other": {"clean", during(10, 90, acknowledged(201, "o1")), 0},
	} {
		h := on(c.lane, alone(story(c.attempt).rows(1)))
		h.Run.Exercised = []history.Proof{{Name: string(proofs.Delayed)}}
		require.Equal(t, c.held, check(h, terms()).Exercise[0].Held, name)
	}
}

// unwritten is an attempt that was answered before its last byte was sent.
func unwritten(a history.Attempt) history.Attempt { a.Wrote = 0; return a }

// watched is an attempt that was seen at the doorstep: inside the target from arrived to answered.
func watched(arrived, answered float64, a history.Attempt) history.Attempt {
	return passing(history.Passage{Opened: ms(arrived), Arrived: ms(arrived), Answered: ms(answered), Up: a.Sent}, a)
}

func leaving(left float64, a history.Attempt) history.Attempt {
	p := *a.Passage
	p.Left = ms(left)
	return passing(p, a)
}

func partly(a history.Attempt) history.Attempt {
	p := *a.Passage
	p.Up--
	return passing(p, a)
}

func closing(closed float64, a history.Attempt) history.Attempt {
	p := *a.Passage
	p.Answered, p.Closed = 0, ms(closed)
	return passing(p, a)
}

func on(lane string, h *history.History) *history.History {
	for i := range h.Attempts {
		h.Attempts[i].Lane = lane
	}
	h.Run.Lanes = append(h.Run.Lanes, history.Lane{Name: "slow", Delay: ms(50)})
	return h
}

func seen(at float64, rows int, h *history.History) *history.History {
	h.Sightings = append(h.Sightings, history.Sighting{Intent: "i1", Marker: "dti1", At: ms(at), Rows: rows})
	return h
}

// at is an attempt whose connection went to an instance of the target.
func at(instance int, a history.Attempt) history.Attempt { a.Instance = instance; return a }

// held is a time at which the writers of a table were held back for the intent i1.
func held(h *history.History) *history.History { return heldFor("i1", ms(5), h) }

func heldFor(intent string, shut history.Offset, h *history.History) *history.History {
	h.Holdings = append(h.Holdings, history.Holding{Intent: intent, Table: "orders", Shut: shut, Opened: shut + ms(30)})
	return h
}

// struck is a crash beside the first attempt of i1, after which the target was ready again.
func struck(at, ready float64, h *history.History) *history.History {
	return crashed(history.Crash{Attempt: "i1.1", Struck: ms(at), Ended: ms(at + 1), Ready: ms(ready)}, h)
}

func crashed(k history.Crash, h *history.History) *history.History {
	h.Crashes = append(h.Crashes, k)
	return h
}

// emptied is a store that loses so many keys in the story of i1.
func emptied(begun, done float64, keys int, h *history.History) *history.History {
	h.Flushes = append(h.Flushes, history.Flush{Intent: "i1", Begun: ms(begun), Done: ms(done), Deleted: keys})
	return h
}

// fast makes the links have no latency.
func fast(h *history.History) *history.History {
	for i := range h.Run.Links {
		h.Run.Links[i].Delay = 0
	}
	return h
}

func anothers(h *history.History) *history.History {
	h.Flushes[0].Intent = "i2"
	return h
}

// away is a link that was broken for so long.
func away(long float64, a history.Attempt) history.Attempt {
	a.Cut.Away = ms(long)
	return a
}

// asking is a link with a latency of 20ms that had a question and its answer to carry.
func asking(asked, answered float64, h *history.History) *history.History {
	h.Run.Links = []history.Link{{Name: "store", Delay: ms(900)}, {Name: "database", Delay: ms(20)}}
	h.Traffic = []history.Traffic{{Link: "database", Exchanges: []history.Exchange{
		{Asked: ms(1), Answered: ms(2)}, {Asked: ms(asked), Answered: ms(answered)}, {Asked: ms(995), Answered: ms(999)},
	}}}
	return h
}

// cutAt breaks a link so many connections of which are open while an attempt is under way.
func cutAt(at float64, connections int, a history.Attempt) history.Attempt {
	a.Cut = &history.Cut{Link: "database", Moment: "3", At: ms(at), Connections: connections}
	return a
}

// follows is the second of two requests, let go so long after the first as it was to be.
func follows(at float64, a history.Attempt) history.Attempt {
	m := member(at)
	m.Passage.Up, m.Sent, m.After = a.Sent, a.Sent, ms(7)
	a.Together, a.After, a.Passage = true, ms(7), m.Passage
	return a
}

// leads is the first of two requests.
func leads(at float64, a history.Attempt) history.Attempt {
	a = follows(at, a)
	a.After = 0
	return a
}

func alone(d *draft) *history.History { return scenes([]*draft{d}) }

// Each proof has a history in which it holds, and some in which it nearly holds.
func TestProofs(t *testing.T) {
	t.Parallel()
	a, u, p, r := acknowledged(201, "o1"), unknown(history.Timeout), inProgress(), rejected(400)
	full, out := limited(), rejected(401)
	rows := []struct {
		proof proofs.Name
		name  string
		held  bool
		of    *history.History
	}{
		{proofs.Acknowledged, "an acknowledgement", true, alone(story(a))},
		{proofs.Acknowledged, "a truncated one", false, alone(story(truncated(a)))},
		{proofs.Acknowledged, "only to the probe", false, alone(story(u).probe(a))},

		{proofs.Replayed, "the same request after its answer", true, alone(story(a, a))},
		{proofs.Replayed, "the same request, lost after it got through", true, alone(story(a, watched(20, 0, u)))},
		{proofs.Replayed, "the same request, lost on its way", false, alone(story(a, partly(watched(20, 0, u))))},
		{proofs.Replayed, "before its answer", false, alone(story(during(10, 30, a), during(20, 40, a)))},
		{proofs.Replayed, "after a lost answer", false, alone(story(u, a))},
		{proofs.Replayed, "with another key", false, alone(story(a, keyed("k2", a)))},
		{proofs.Replayed, "with another body", false, alone(story(a, altered(a)))},
		{proofs.Replayed, "the same request, throttled", false, alone(story(a, full))},
		{proofs.Replayed, "the same request, turned away", false, alone(story(a, out))},
		{proofs.Replayed, "after it was throttled", false, alone(story(full, a))},
		{proofs.Replayed, "after it was told that it runs", true, alone(story(p, a))},
		{proofs.Replayed, "the same request, failed", true, alone(story(a, answer(503, `{"error":"down"}`)))},

		{proofs.Overlapped, "another request met a running one", true, alone(story(p))},
		{proofs.Overlapped, "two at once by the client's clock", true, alone(story(during(10, 50, a), during(20, 60, a)))},
		{proofs.Overlapped, "one after the other", false, alone(story(during(10, 20, a), during(20, 60, a)))},
		{proofs.Overlapped, "two at once where latency blurs it", false, on("slow", alone(story(during(10, 50, a), during(20, 60, a))))},
		{proofs.Overlapped, "two at once, one without an answer", false, alone(story(during(10, 50, a), during(20, 60, u)))},
		{proofs.Overlapped, "two at once at the doorstep", true, alone(story(watched(10, 50, u), watched(40, 60, u)))},
		{proofs.Overlapped, "an answer before the request was written says nothing of when it was inside", false,
			alone(story(during(10, 20, a), unwritten(during(30, 60, a))))},
		{proofs.Overlapped, "two at the doorstep, just not at once", false, alone(story(watched(10, 40, u), watched(40, 60, u)))},
		{proofs.Overlapped, "two at once, one until its connection closed", true, alone(story(closing(50, watched(10, 0, u)), watched(40, 60, u)))},
		{proofs.Overlapped, "two at once, one until its client left", true, alone(story(leaving(50, watched(10, 0, u)), watched(40, 60, u)))},
		{proofs.Overlapped, "two at once, of one nobody knows how long", false, alone(story(watched(10, 0, u), watched(40, 60, u)))},
		{proofs.Overlapped, "two at once, one of them in part", false, alone(story(watched(10, 50, u), partly(watched(40, 60, u))))},
		{proofs.Overlapped, "two at once, the second throttled", false, alone(story(watched(10, 50, a), watched(20, 60, full)))},
		{proofs.Overlapped, "two at once, the first throttled", false, alone(story(watched(10, 50, full), watched(20, 60, a)))},
		{proofs.Overlapped, "two at once, the second throttled as declared", false, alone(story(during(10, 50, a), during(20, 60, throttled())))},
		{proofs.Overlapped, "two at once, the second turned away", false, alone(story(during(10, 50, a), during(20, 60, out)))},
		{proofs.Overlapped, "two at once, and one throttled", true, alone(story(watched(10, 50, a), watched(20, 60, full), watched(30, 60, u)))},
		{proofs.Overlapped, "two at once, one without its store", true, alone(story(watched(10, 50, a), watched(20, 60, answer(503, `{"error":"down"}`))))},
		{proofs.Overlapped, "one throttled, and one that met a running request", true, alone(story(full, p))},

		{proofs.ResponseLost, "no answer, and the row is there", true, alone(story(watched(10, 15, u)).rows(1))},
		{proofs.ResponseLost, "no answer, and the altered row is there", true, alone(story(altered(watched(10, 15, u))).rows(0).and("o1"))},
		{proofs.ResponseLost, "no answer, and no row", false, alone(story(watched(10, 15, u)))},
		{proofs.ResponseLost, "no answer, and a row only after the probe", false, alone(story(watched(10, 15, u)).rows(0).later("o1").probe(a))},
		{proofs.ResponseLost, "a server error, and the row is there", false, alone(story(watched(10, 15, serverError())).rows(1))},
		{proofs.ResponseLost, "no answer to what never got through", false, alone(story(partly(watched(10, 0, u)), a).rows(1))},

		{proofs.RequestLost, "no connection", true, alone(story(refused(), a).rows(1))},
		{proofs.RequestLost, "a request that the doorstep saw in part", true, alone(story(partly(watched(10, 0, u)), a).rows(1))},
		{proofs.RequestLost, "a request that the doorstep saw whole", false, alone(story(watched(10, 0, u), a).rows(1))},
		{proofs.RequestLost, "the only request has no answer and no row", true, alone(story(u))},
		{proofs.RequestLost, "the only request has no answer and a row", false, alone(story(u).rows(1))},
		{proofs.RequestLost, "one of two has no answer, which proves nothing", false, alone(story(u, a))},

		{proofs.CommittedBefore, "no answer, row seen, then the retry", true, seen(19.5, 1, alone(story(u, a).rows(1)))},
		{proofs.CommittedBefore, "row seen after the retry began", false, seen(25, 1, alone(story(u, a).rows(1)))},
		{proofs.CommittedBefore, "no row seen", false, seen(19.5, 0, alone(story(u, a).rows(1)))},
		{proofs.CommittedBefore, "row seen after an answer", false, seen(19.5, 1, alone(story(a, a).rows(1)))},
		{proofs.CommittedBefore, "row seen after no connection", false, seen(19.5, 1, alone(story(refused(), a).rows(1)))},
		{proofs.CommittedBefore, "row seen, and the retry got lost", false, seen(19.5, 1, alone(story(u, u).rows(1)))},
		{proofs.CommittedBefore, "row seen, and the retry was throttled", false, seen(19.5, 1, alone(story(u, full).rows(1)))},

		{proofs.RetriedRunning, "the retry came while the first ran", true, alone(story(watched(10, 50, u), watched(30, 60, a)))},
		{proofs.RetriedRunning, "the retry came after the first", false, alone(story(watched(10, 20, u), watched(30, 60, a)))},
		{proofs.RetriedRunning, "both began at once", false, alone(story(during(10, 50, a), during(10, 60, a)))},
		{proofs.RetriedRunning, "the retry came while the first ran, and was throttled", false, alone(story(watched(10, 50, u), watched(30, 60, full)))},

		{proofs.Delayed, "the answer took the latency", true, on("slow", alone(story(during(10, 61, a))))},
		{proofs.Delayed, "the client gave up on it", true, on("slow", alone(story(during(10, 20, u))))},
		{proofs.Delayed, "the answer was faster", false, on("slow", alone(story(during(10, 60, a))))},
		{proofs.Delayed, "the lane has no latency", false, alone(story(during(10, 90, a)))},
		{proofs.Delayed, "the lane is unknown", false, on("none", alone(story(during(10, 90, a))))},
		{proofs.Delayed, "nothing was written", false, on("slow", alone(story(refused())))},

		{proofs.GaveUp, "the deadline passed", true, alone(story(u))},
		{proofs.GaveUp, "the deadline passed before anything was sent", false, alone(story(history.Attempt{ErrorKind: history.Timeout}))},
		{proofs.GaveUp, "the connection was reset", false, alone(story(unknown(history.Reset)))},

		{proofs.LeftRunning, "gone before the answer", true, alone(story(leaving(30, watched(10, 50, u))))},
		{proofs.LeftRunning, "gone and never answered", true, alone(story(leaving(30, watched(10, 0, u))))},
		{proofs.LeftRunning, "gone after the answer", false, alone(story(leaving(60, watched(10, 50, u))))},
		{proofs.LeftRunning, "never gone", false, alone(story(watched(10, 50, u)))},
		{proofs.LeftRunning, "gone before the request was there", false, alone(story(leaving(30, partly(watched(10, 50, u)))))},
		{proofs.LeftRunning, "without a doorstep, the deadline has to do", true, alone(story(u))},
		{proofs.LeftRunning, "without a doorstep, a reset does not do", false, alone(story(unknown(history.Reset)))},

		{proofs.BothBodies, "both answered", true, alone(story(a, altered(r)))},
		{proofs.BothBodies, "one lost on its way", false, alone(story(a, altered(u)))},
		{proofs.BothBodies, "one twice", false, alone(story(a, a))},
		{proofs.BothBodies, "one throttled", false, alone(story(a, altered(full)))},
		{proofs.BothBodies, "one told that another runs", true, alone(story(a, altered(p)))},

		{proofs.KeysDiffer, "two keys", true, alone(story(a, keyed("k2", r)))},
		{proofs.KeysDiffer, "one key twice", false, alone(story(a, a))},
		{proofs.KeysDiffer, "two keys, one lost", false, alone(story(a, keyed("k2", u)))},
		{proofs.KeysDiffer, "two keys, the first throttled", false, alone(story(full, keyed("k2", a)))},
		{proofs.KeysDiffer, "two keys, the second throttled", false, alone(story(a, keyed("k2", full)))},

		{proofs.KeyOmitted, "no key", true, alone(story(keyed(noKey, r)))},
		{proofs.KeyOmitted, "no key, and lost", false, alone(story(keyed(noKey, u)))},
		{proofs.KeyOmitted, "a key", false, alone(story(a))},
		{proofs.KeyOmitted, "no key, and throttled", false, alone(story(keyed(noKey, full)))},
		{proofs.KeyOmitted, "no key, and turned away", false, alone(story(keyed(noKey, out), refused()))},
		{proofs.KeyOmitted, "no key, throttled and then refused", true, alone(story(keyed(noKey, full), keyed(noKey, r)))},

		{proofs.Respelled, "respelled and answered alike", true, alone(story(a, reordered(a)))},
		{proofs.Respelled, "respelled and refused as another", true, alone(story(a, reordered(mismatch())))},
		{proofs.Respelled, "respelled and refused for its form", false, alone(story(a, reordered(r)))},
		{proofs.Respelled, "respelled and lost", false, alone(story(a, reordered(u)))},
		{proofs.TurnedAway, "refused without the credential, and again", true, alone(story(withoutCredential(r), a, withoutCredential(r)))},
		{proofs.TurnedAway, "refused, and then answered", true, alone(story(withoutCredential(r), a, withoutCredential(a)))},
		{proofs.TurnedAway, "not refused", false, alone(story(withoutCredential(a), a, withoutCredential(a)))},
		{proofs.TurnedAway, "refused, and nothing came of it", false, alone(story(withoutCredential(r), r, withoutCredential(r)))},
		{proofs.TurnedAway, "the second was lost on its way", false, alone(story(withoutCredential(r), a, withoutCredential(refused())))},
		{proofs.TurnedAway, "always with it", false, alone(story(r, a, a))},
		{proofs.Respelled, "not respelled", false, alone(story(a, a))},
		{proofs.Respelled, "name in lower case and refused", true, alone(story(a, inLowerCase(r)))},
		{proofs.Respelled, "two keys and refused", true, alone(story(twoKeys(r)))},
		{proofs.Respelled, "two keys and lost", false, alone(story(twoKeys(u)))},

		{proofs.Expired, "nothing declared", false, alone(story(during(1, 2, a), during(900, 901, a)))},

		{proofs.RetriedLate, "a second after the answer", true, alone(story(during(1, 2, a), during(1002, 1003, a)))},
		{proofs.RetriedLate, "after a rejection", true, alone(story(during(1, 2, rejected(412)), during(1002, 1003, a)))},
		{proofs.RetriedLate, "sooner", false, alone(story(during(1, 2, a), during(1001, 1003, a)))},
		{proofs.RetriedLate, "another key", false, alone(story(during(1, 2, a), keyed("k2", during(1002, 1003, a))))},
		{proofs.RetriedLate, "another body", false, alone(story(during(1, 2, a), altered(during(1002, 1003, a))))},
		{proofs.RetriedLate, "nobody knows that it came", false, alone(story(during(1, 2, a), during(1002, 1003, u)))},
		{proofs.RetriedLate, "the first was throttled", false, alone(story(during(1, 2, full), during(1002, 1003, a)))},

		{proofs.Looked, "a look after the answer", true, seen(20, 0, alone(story(during(1, 10, a))))},
		{proofs.Looked, "a look before the answer", false, seen(9, 1, alone(story(during(1, 10, a))))},
		{proofs.Looked, "a look after no answer", false, seen(20, 1, alone(story(during(1, 10, u))))},
		{proofs.Looked, "no look", false, alone(story(a))},

		{proofs.WritesHeld, "held while two were inside", true, held(alone(story(watched(10, 50, u), watched(40, 60, u))))},
		{proofs.WritesHeld, "held, and another request met a running one", true, held(alone(story(p)))},
		{proofs.WritesHeld, "held, and one came after the other", false, held(alone(story(watched(10, 40, u), watched(40, 60, u))))},
		{proofs.WritesHeld, "held for one request", false, held(alone(story(a)))},
		{proofs.WritesHeld, "two inside, and nobody held back", false, alone(story(watched(10, 50, u), watched(40, 60, u)))},
		{proofs.WritesHeld, "two inside, and the table could not be shut", false, heldFor("i1", 0, alone(story(watched(10, 50, u), watched(40, 60, u))))},
		{proofs.WritesHeld, "two inside, and held for another intent", false, heldFor("i2", ms(5), alone(story(watched(10, 50, u), watched(40, 60, u))))},
		{proofs.WritesHeld, "held while two were inside, one of them throttled", false, held(alone(story(watched(10, 50, a), watched(40, 60, full))))},

		{proofs.Instances, "two of them", true, alone(story(at(1, a), at(2, a)))},
		{proofs.Instances, "one of them", false, alone(story(at(2, a), at(2, a)))},
		{proofs.Instances, "one of them, and another that nobody knows", false, alone(story(at(2, a), a))},
		{proofs.Instances, "one of them, and another that never got it", false, alone(story(at(1, a), at(2, partly(watched(10, 0, u)))))},
		{proofs.Instances, "two of them, the first throttled", false, alone(story(at(1, full), at(2, a)))},
		{proofs.Instances, "two of them, the second throttled", false, alone(story(at(1, a), at(2, full)))},

		{proofs.Crashed, "killed while it was inside", true, struck(20, 40, alone(story(closing(21, watched(10, 0, u)))))},
		{proofs.Crashed, "killed while it was inside, and answered all the same", true, struck(20, 40, alone(story(watched(10, 21, a))))},
		{proofs.Crashed, "killed before it came", false, struck(9, 40, alone(story(watched(10, 0, u))))},
		{proofs.Crashed, "killed after its answer", false, struck(22, 40, alone(story(watched(10, 21, a))))},
		{proofs.Crashed, "killed when a part of it was there", false, struck(20, 40, alone(story(partly(watched(10, 0, u)))))},
		{proofs.Crashed, "not started again", false, crashed(history.Crash{Attempt: "i1.1", Struck: ms(20)}, alone(story(watched(10, 0, u))))},
		{proofs.Crashed, "never killed", false, crashed(history.Crash{Attempt: "i1.1", Ready: ms(40)}, alone(story(watched(10, 0, u))))},
		{proofs.Crashed, "killed beside another attempt", false, crashed(history.Crash{Attempt: "i1.2", Struck: ms(20), Ready: ms(40)}, alone(story(watched(10, 0, u))))},
		{proofs.Crashed, "killed while it was inside, by the client's clock", true, struck(20, 40, alone(story(during(10, 30, u))))},
		{proofs.Crashed, "killed after its answer, by the client's clock", false, struck(31, 40, alone(story(during(10, 30, a))))},
		{proofs.Crashed, "killed before it was written, by the client's clock", false, struck(9, 40, alone(story(during(10, 30, u))))},

		{proofs.Restarted, "killed after the answer, and sent again", true, struck(35, 40, alone(story(during(10, 30, a), during(50, 60, a))))},
		{proofs.Restarted, "killed before the answer", false, struck(25, 40, alone(story(during(10, 30, a), during(50, 60, a))))},
		{proofs.Restarted, "sent again before it was ready", false, struck(35, 55, alone(story(during(10, 30, a), during(50, 60, a))))},
		{proofs.Restarted, "not sent again", false, struck(35, 40, alone(story(during(10, 30, a))))},
		{proofs.Restarted, "sent again with another key", false, struck(35, 40, alone(story(during(10, 30, a), keyed("k2", during(50, 60, a)))))},
		{proofs.Restarted, "sent again with another body", false, struck(35, 40, alone(story(during(10, 30, a), altered(during(50, 60, a)))))},
		{proofs.Restarted, "killed after it was throttled", false, struck(35, 40, alone(story(during(10, 30, full), during(50, 60, a))))},
		{proofs.Restarted, "killed after the answer, and then throttled", false, struck(35, 40, alone(story(during(10, 30, a), during(50, 60, full))))},

		{proofs.Swept, "let go later, and both came", true, alone(story(leads(10, a), follows(17, a)))},
		{proofs.Swept, "let go later in front of the lane", true, alone(story(before(10), afterwards(17)))},
		{proofs.Swept, "whichever was begun first", true, alone(story(follows(17, a), leads(10, a)))},
		{proofs.Swept, "lost answers do not matter", true, alone(story(leads(10, u), follows(17, u)))},
		{proofs.Swept, "let go at once after all", false, alone(story(leads(10, a), follows(10, a)))},
		{proofs.Swept, "let go before the first", false, alone(story(leads(10, a), follows(9, a)))},
		{proofs.Swept, "the second was never let go", false, alone(story(leads(10, a), follows(0, a)))},
		{proofs.Swept, "the first was never let go", false, alone(story(leads(0, a), follows(17, a)))},
		{proofs.Swept, "the second came in part", false, alone(story(leads(10, a), partly(follows(17, a))))},
		{proofs.Swept, "the first came in part", false, alone(story(partly(leads(10, a)), follows(17, a)))},
		{proofs.Swept, "an ordinary burst", false, alone(story(member(10), member(17)))},
		{proofs.Swept, "one alone", false, alone(story(follows(17, a)))},
		{proofs.Swept, "one after the other", false, alone(story(a, a))},
		{proofs.Swept, "let go later, and then throttled", false, alone(story(leads(10, a), follows(17, full)))},
		{proofs.Swept, "let go after a throttled one", false, alone(story(leads(10, full), follows(17, a)))},

		{proofs.LinkDelayed, "a question waited while a request was inside", true, asking(20, 40, alone(story(watched(10, 50, u))))},
		{proofs.LinkDelayed, "a question was answered faster", false, asking(20, 39, alone(story(watched(10, 50, u))))},
		{proofs.LinkDelayed, "a question from before", false, asking(9, 40, alone(story(watched(10, 50, u))))},
		{proofs.LinkDelayed, "an answer came after", false, asking(20, 51, alone(story(watched(10, 50, u))))},
		{proofs.LinkDelayed, "an answer came after the client had left", true, asking(20, 70, alone(story(closing(50, watched(10, 0, u)))))},
		{proofs.LinkDelayed, "a question came after the client had left", false, asking(51, 75, alone(story(closing(50, watched(10, 0, u)))))},
		{proofs.LinkDelayed, "an answer came long after the client had left", false, asking(20, 251, alone(story(closing(50, watched(10, 0, u)))))},
		{proofs.LinkDelayed, "a request that came in part", false, asking(20, 40, alone(story(partly(watched(10, 50, u)))))},
		{proofs.LinkDelayed, "nobody knows how long the request was inside", false, asking(20, 40, alone(story(watched(10, 0, u))))},
		{proofs.LinkDelayed, "the link was not slow", false, fast(asking(20, 40, alone(story(watched(10, 50, u)))))},
		{proofs.LinkDelayed, "nothing passed", false, alone(story(watched(10, 50, u)))},
		{proofs.LinkDelayed, "the client's times serve", true, asking(20, 40, alone(story(during(10, 50, a))))},

		{proofs.LinkCut, "it broke while a request was inside", true, alone(story(cutAt(30, 1, watched(10, 50, u))))},
		{proofs.LinkCut, "it did not come to that", false, alone(story(cutAt(0, 0, watched(10, 50, u))))},
		{proofs.LinkCut, "there was no connection on it", false, alone(story(cutAt(30, 0, watched(10, 50, u))))},
		{proofs.LinkCut, "it broke before the request was there", false, alone(story(cutAt(9, 1, watched(10, 50, u))))},
		{proofs.LinkCut, "it broke after the answer", false, alone(story(cutAt(51, 1, watched(10, 50, u))))},
		{proofs.LinkCut, "it broke and the client left", true, alone(story(cutAt(30, 1, leaving(45, watched(10, 0, u)))))},
		{proofs.LinkCut, "without a doorstep, the client's times serve", true, alone(story(cutAt(30, 1, during(10, 50, u))))},
		{proofs.LinkCut, "without a doorstep, latency blurs them", false, on("slow", alone(story(cutAt(30, 1, during(10, 80, u)))))},
		{proofs.LinkCut, "nothing was to break", false, alone(story(watched(10, 50, u)))},

		{proofs.LinkAway, "the same request came again meanwhile", true, alone(story(away(40, cutAt(30, 1, watched(10, 35, u))), watched(50, 60, u)))},
		{proofs.LinkAway, "it came when the link was whole again", false, alone(story(away(20, cutAt(30, 1, watched(10, 35, u))), watched(50, 60, u)))},
		{proofs.LinkAway, "it had come before", false, alone(story(away(40, cutAt(30, 1, watched(10, 35, u))), watched(29, 60, u)))},
		{proofs.LinkAway, "another body came", false, alone(story(away(40, cutAt(30, 1, watched(10, 35, u))), altered(watched(50, 60, u))))},
		{proofs.LinkAway, "another key came", false, alone(story(away(40, cutAt(30, 1, watched(10, 35, u))), keyed("other", watched(50, 60, u))))},
		{proofs.LinkAway, "it came in part", false, alone(story(away(40, cutAt(30, 1, watched(10, 35, u))), partly(watched(50, 60, u))))},
		{proofs.LinkAway, "there was no connection on it", false, alone(story(away(40, cutAt(30, 0, watched(10, 35, u))), watched(50, 60, u)))},
		{proofs.LinkAway, "it did not come to that", false, alone(story(away(40, cutAt(0, 1, watched(10, 35, u))), watched(20, 60, u)))},
		{proofs.LinkAway, "without a doorstep, the client's times serve", true, alone(story(away(40, cutAt(30, 1, during(10, 35, u))), during(50, 60, a)))},
		{proofs.LinkAway, "without a doorstep, latency blurs them", false, on("slow", alone(story(away(40, cutAt(30, 1, during(10, 35, u))), during(40, 100, a))))},
		{proofs.LinkAway, "nothing was to break", false, alone(story(watched(10, 35, u), watched(50, 60, u)))},
		{proofs.LinkAway, "it came meanwhile and was refused because of that", true, alone(story(away(40, cutAt(30, 1, watched(10, 35, u))), watched(50, 60, throttled())))},

		{proofs.Removed, "and then it came again", true, gone(alone(story(during(10, 19, a), during(30, 39, a))))},
		{proofs.Removed, "and then it was refused", true, gone(alone(story(during(10, 19, a), during(30, 39, rejected(400)))))},
		{proofs.Removed, "and then nothing came", false, gone(alone(story(during(10, 19, a))))},
		{proofs.Removed, "there was nothing", false, gone(alone(story(during(10, 19, rejected(400)), during(30, 39, a))))},
		{proofs.Removed, "nothing arrived any more", false, gone(alone(story(during(10, 19, a), partly(watched(30, 0, u)))))},
		{proofs.Removed, "it was not removed", false, removal(0, "no", alone(story(during(10, 19, a), during(30, 39, a))))},
		{proofs.Removed, "nothing was to be removed", false, alone(story(during(10, 19, a), during(30, 39, a)))},
		{proofs.Removed, "and then it was throttled", false, gone(alone(story(during(10, 19, a), during(30, 39, full))))},

		{proofs.Flushed, "it lost a key between two requests", true, emptied(20, 21, 1, alone(story(during(10, 19, a), during(22, 30, a))))},
		{proofs.Flushed, "and while the first was under way", true, emptied(15, 16, 1, alone(story(during(10, 19, a), during(22, 30, a))))},
		{proofs.Flushed, "there was nothing to lose", false, emptied(20, 21, 0, alone(story(during(10, 19, a), during(22, 30, a))))},
		{proofs.Flushed, "it failed", false, emptied(20, 0, 1, alone(story(during(10, 19, a), during(22, 30, a))))},
		{proofs.Flushed, "before the first", false, emptied(8, 9, 1, alone(story(during(10, 19, a), during(22, 30, a))))},
		{proofs.Flushed, "after the second began", false, emptied(20, 23, 1, alone(story(during(10, 19, a), during(22, 30, a))))},
		{proofs.Flushed, "the second had another body", false, emptied(20, 21, 1, alone(story(during(10, 19, a), altered(during(22, 30, a)))))},
		{proofs.Flushed, "the second had another key", false, emptied(20, 21, 1, alone(story(during(10, 19, a), keyed("other", during(22, 30, a)))))},
		{proofs.Flushed, "the second did not arrive", false, emptied(20, 21, 1, alone(story(during(10, 19, a), partly(watched(22, 30, u)))))},
		{proofs.Flushed, "in another intent's story", false, anothers(emptied(20, 21, 1, alone(story(during(10, 19, a), during(22, 30, a)))))},
		{proofs.Flushed, "the second was throttled", false, emptied(20, 21, 1, alone(story(during(10, 19, a), during(22, 30, full))))},
		{proofs.Flushed, "the first was throttled", false, emptied(20, 21, 1, alone(story(during(10, 19, full), during(22, 30, a))))},

		{proofs.Name("luck"), "never", false, alone(story(a, a))},
	}
	for _, row := range rows {
		t.Run(string(row.proof)+": "+row.name, func(t *testing.T) {
			t.Parallel()
			row.of.Run.Exercised = []history.Proof{{Name: string(row.proof), AtLeast: 1}}
			e := check(row.of, terms()).Exercise
			require.Len(t, e, 1)
			require.NotEmpty(t, e[0].Text)
			require.Equal(t, 1, e[0].Of)
			require.Equal(t, row.held, e[0].Held == 1)
		})
	}
}

func TestProofOfExpiry(t *testing.T) {
	t.Parallel()
	held := func(then history.Attempt) bool {
		h := alone(story(during(1, 10, acknowledged(201, "o1")), then))
		h.Run.Exercised = []history.Proof{{Name: string(proofs.Expired)}}
		return check(h, terms(expiring(100, ""))).Exercise[0].Held == 1
	}
	late := during(200, 210, acknowledged(201, "o1"))
	require.True(t, held(late))
	require.True(t, held(during(200, 210, rejected(412))))
	require.False(t, held(during(109, 120, acknowledged(201, "o1"))), "too early")
	require.False(t, held(keyed("k2", late)))
	require.False(t, held(altered(late)))
	require.False(t, held(during(200, 210, unknown(history.Reset))), "nobody knows that it came")
	require.False(t, held(during(200, 210, limited())), "it was rejected at the entry")
}

func TestLongWorkCountsWhereAnotherRequestWasInside(t *testing.T) {
	t.Parallel()
	held := func(work int64, first, second history.Attempt) bool {
		h := alone(story(first, second))
		h.Intents[0].Work = history.Offset(work * 1e6)
		h.Run.Exercised = []history.Proof{{Name: string(proofs.WorkedLong)}}
		return check(h, terms()).Exercise[0].Held == 1
	}
	a := acknowledged(201, "o1")
	require.True(t, held(600, during(10, 611, a), during(100, 620, a)))
	require.True(t, held(600, during(10, 20, a), during(11, 620, a)), "whichever of them")
	require.False(t, held(600, during(10, 500, a), during(100, 520, a)), "it was not long")
	require.False(t, held(600, during(10, 611, a), during(700, 720, a)), "nobody came meanwhile")
	require.False(t, held(0, during(10, 611, a), during(100, 620, a)), "it was not meant to take long")
}

func TestALateRetryCountsWhileItsKeyMustBeKnown(t *testing.T) {
	t.Parallel()
	held := func(begun, ended float64, options ...func(*checker.Terms)) bool {
		a := acknowledged(201, "o1")
		h := alone(story(during(1, 10, a), during(begun, ended, a)))
		h.Run.Exercised = []history.Proof{{Name: string(proofs.RetriedLate)}}
		return check(h, terms(options...)).Exercise[0].Held == 1
	}
	require.True(t, held(1500, 1600, expiring(2000, "")))
	require.True(t, held(260, 600, expiring(1000, "")), "a quarter of a short time")
	require.False(t, held(259, 600, expiring(1000, "")))
	require.True(t, held(1990, 2000, expiring(2000, "")))
	require.False(t, held(1990, 2001, expiring(2000, "")), "the key may be forgotten when it is looked up")
}

func TestProofOfNeighbours(t *testing.T) {
	t.Parallel()
	held := func(one, two *draft) int {
		h := scenes([]*draft{one.named("n1"), two.named("n2")})
		h.Run.Exercised = []history.Proof{{Name: string(proofs.Neighbours)}}
		return check(h, terms()).Exercise[0].Held
	}
	a := func() *draft { return story(acknowledged(201, "o1")) }
	require.Equal(t, 2, held(a().beside("n1"), a().beside("n1")))
	require.Equal(t, 2, held(a().beside("n1"), story(rejected(400)).beside("n1")), "a refusal is an answer")
	require.Equal(t, 0, held(a().beside("n1"), story(unknown(history.Reset)).beside("n1")))
	require.Equal(t, 0, held(a().beside("n1"), story(unknown(history.Reset)).beside("n1").probe(acknowledged(201, "o1"))), "answered only to the probe")
	require.Equal(t, 0, held(a().beside("n1"), story(limited()).beside("n1")), "not let in")
	require.Equal(t, 0, held(a().beside("n1"), story(rejected(401)).beside("n1")), "nobody's session")
	require.Equal(t, 0, held(a().beside("n1"), a().beside("n2")), "of others")
	require.Equal(t, 0, held(a(), a()), "no neighbours")
}

func TestProofOfDistinctKeys(t *testing.T) {
	t.Parallel()
	held := func(one, two *draft) int {
		h := scenes([]*draft{one.named("t1").twinOf("dtwin"), two.named("t2").twinOf("dtwin")})
		h.Run.Exercised = []history.Proof{{Name: string(proofs.DistinctKeys)}}
		return check(h, terms()).Exercise[0].Held
	}
	a := acknowledged(201, "o1")
	require.Equal(t, 2, held(story(a), story(rejected(400))))
	require.Equal(t, 0, held(story(a), story(unknown(history.Reset))), "one had no answer")
	require.Equal(t, 0, held(story(a), story(limited())), "one was rejected at the entry")
	require.Equal(t, 0, held(story(keyed("k", a)), story(keyed("k", a))), "one key")
	require.Equal(t, 0, held(story(a), story(unknown(history.Reset)).probe(a)), "answered only to the probe")
	h := scenes([]*draft{story(a, keyed("k2", a))})
	h.Run.Exercised = []history.Proof{{Name: string(proofs.DistinctKeys)}}
	require.Equal(t, 0, check(h, terms()).Exercise[0].Held, "one intent")
}

// A gateway that lets one request in at a time keeps a race from being tried.
func TestARaceThatAGatewayRejectsIsNotExercised(t *testing.T) {
	t.Parallel()
	var all []history.Attempt
	all = append(all, watched(10, 60, during(5, 65, acknowledged(201, "o1"))))
	for range 9 {
		all = append(all, watched(12, 58, during(5, 65, limited())))
	}
	h := alone(story(all...).rows(1).probe(acknowledged(201, "o1")))
	h.Run.Exercised = []history.Proof{{Name: string(proofs.Overlapped)}}
	judge(t, h, terms(), nil, "not exercised")

	h = alone(story(keyed(noKey, limited()), keyed(noKey, limited())))
	h.Run.Exercised = []history.Proof{{Name: string(proofs.KeyOmitted)}}
	judge(t, h, terms(keyRequired), nil, "not exercised")
}

func TestWhatWasAnsweredIsSaidWhereNothingWasDone(t *testing.T) {
	t.Parallel()
	r := check(alone(story(rejected(400), rejected(400), rejected(403))), terms())
	require.Contains(t, strings.Join(r.Reasons, "\n"), "of 1 intents the target said of none that it was done, accepted or there already; 2 of 3 answers had status 400")
}

func TestWhatAsksForNoProofHasNoRounds(t *testing.T) {
	t.Parallel()
	require.Zero(t, checker.Rounds(nil))
}

func TestWhatBrokeAndWhatWasExercisedAreCounted(t *testing.T) {
	t.Parallel()
	twice := story(acknowledged(201, "o1"), acknowledged(201, "o2")).rows(2)
	met := story(watched(10, 60, during(5, 65, acknowledged(201, "p1"))), watched(12, 58, during(5, 65, acknowledged(201, "p2")))).named("i2").rows(2)
	h := scene(twice, met)
	r := check(h, terms())
	require.Nil(t, r.Exercised, "each was acknowledged")
	h.Run.Exercised = []history.Proof{{Name: string(proofs.Overlapped)}}
	r = check(h, terms())
	require.Equal(t, &checker.Exercised{Intents: 1, Broke: map[checker.Kind]int{checker.Duplicate: 1}}, r.Exercised, "of three, and of the two that broke")
	require.Equal(t, 2, r.Failed)
}
