// Package proofs is the one table of the proofs of exercise: the conditions that show that what a scenario
// plans really happened. A run in which they did not hold for enough intents is inconclusive.
//
// From the table are made the validation and the JSON Schema of scenario files, the words of reports and the
// table of the docs (make docs). The rule of a proof, which looks at a history, is in the checker under the
// same name. The package imports nothing of doubletap, and its functions are safe for concurrent use.
package proofs

import "slices"

// Name is the name of a proof, as scenario files and histories have it. The zero value is no proof.
type Name string

// The proofs. Each has a row in [Table] and a rule in the checker.
const (
	Acknowledged    Name = "acknowledged"
	Replayed        Name = "replayed"
	Overlapped      Name = "overlapped"
	ResponseLost    Name = "response-lost"
	RequestLost     Name = "request-lost"
	CommittedBefore Name = "committed-before-retry"
	RetriedRunning  Name = "retried-while-running"
	Delayed         Name = "delayed"
	GaveUp          Name = "gave-up"
	LeftRunning     Name = "left-while-running"
	BothBodies      Name = "both-bodies"
	Corrected       Name = "corrected"
	BothWays        Name = "both-ways"
	DistinctKeys    Name = "distinct-keys"
	KeysDiffer      Name = "keys-differ"
	KeyOmitted      Name = "key-omitted"
	Neighbours      Name = "neighbours-answered"
	Respelled       Name = "respelled"
	TurnedAway      Name = "turned-away"
	AnsweredLarge   Name = "answered-large"
	AnsweredHuge    Name = "answered-huge"
	AnsweredEmpty   Name = "answered-empty"
	Expired         Name = "expired"
	RetriedLate     Name = "retried-late"
	Looked          Name = "looked"
	WritesHeld      Name = "writes-held"
	Swept           Name = "swept"
	Crashed         Name = "crashed"
	Restarted       Name = "restarted"
	LinkDelayed     Name = "link-delayed"
	LinkCut         Name = "link-cut"
	LinkAway        Name = "link-away"
	Flushed         Name = "flushed"
	Removed         Name = "removed"
	Instances       Name = "several-instances"
	WorkedLong      Name = "worked-long"
	EffectSeen      Name = "effect-seen"
	EffectDisturbed Name = "effect-disturbed"
	EffectCrashed   Name = "effect-crashed"
)

// Proof is one row of the table.
type Proof struct {
	Name       Name
	Sentence   string     // what happened to an intent for which it holds
	Also       string     // what else counts, for the docs; empty: nothing
	Impossible []Obstacle // a scenario with one of these can never exercise it
}

// Obstacle is something about the shape of a scenario that makes proofs impossible, in words that follow
// "can never hold:". The loader of scenarios knows which of them a scenario has.
type Obstacle string

// The obstacles.
const (
	NoOriginal       Obstacle = "nothing is sent with the original body"
	NoAltered        Obstacle = "nothing is sent with an altered body"
	NoOtherWay       Obstacle = "nothing is sent by another way; use ways: [own, other]"
	NoInvalid        Obstacle = "nothing is sent after an invalid body"
	NoWaitCommitted  Obstacle = "there is no wait: committed between two sendings"
	NoWaitExpired    Obstacle = "there is no wait: expired between two sendings"
	NoWaitRemembered Obstacle = "there is no wait for: remembered between two sendings"
	NoLook           Obstacle = "there is no look after a sending"
	NoRespell        Obstacle = "there is no respell after a sending"
	NoCredential     Obstacle = "there is no respell: {spelling: no-credential} both before and after another sending"
	NoLargeAnswer    Obstacle = "no answer: large is asked for"
	NoHugeAnswer     Obstacle = "no answer: huge is asked for"
	NoEmptyAnswer    Obstacle = "no answer: empty is asked for"
	NoWriteGate      Obstacle = "there is no burst with write_gate: true"
	NoSweep          Obstacle = "there is no sweep"
	NoCrash          Obstacle = "there is no crash"
	NoEffectCrash    Obstacle = "there is no crash at an effect; use crash: {at: after-effect}"
	NoSendAfterKill  Obstacle = "nothing is sent after a crash"
	NoSlowLink       Obstacle = "no link has a latency"
	NoCut            Obstacle = "no send has a cut"
	NoSendAfterCut   Obstacle = "nothing is sent after a send with a cut"
	NoFlush          Obstacle = "there is no flush between two sendings"
	NoRemove         Obstacle = "there is no remove between two sendings"
	NoNeighbours     Obstacle = "the scenario has no neighbours"
	NoWork           Obstacle = "the scenario has no work"
	NoSinkFault      Obstacle = "the scenario breaks no answer of a sink"
	OneRequest       Obstacle = "an intent sends one request only"
	NoOtherKey       Obstacle = "every request carries the intent's own key; use key: fresh"
	NoKeyless        Obstacle = "every request carries a key; use key: none"
	NothingSlow      Obstacle = "no lane in use slows anything down"
	NoRequestLost    Obstacle = "no lane in use loses requests; use lose: request"
	NoAnswerLost     Obstacle = "no lane in use has a fault that keeps an answer away, and no client has a timeout of its own"
)

// Of returns the row of a name; found is false where there is none.
func Of(name Name) (row Proof, found bool) {
	table := Table()
	i := slices.IndexFunc(table, func(p Proof) bool { return p.Name == name })
	if i < 0 {
		return Proof{}, false
	}
	return table[i], true
}

// Never returns why a proof can hold for no intent of a scenario with these obstacles; empty: nothing
// obvious stands in its way, and the checker finds out.
func Never(name Name, has func(Obstacle) bool) Obstacle {
	row, _ := Of(name)
	for _, o := range row.Impossible {
		if has(o) {
			return o
		}
	}
	return ""
}

// Table returns all proofs, in the order of the docs.
func Table() []Proof {
	return slices.Concat(meetings(), losses(), bodiesAndKeys(), environment())
}

// meetings has the proofs of requests that are answered, meet each other, or meet a crash.
func meetings() []Proof {
	return []Proof{
		{Name: Acknowledged, Sentence: "a plain create was acknowledged"},
		{Name: Replayed, Sentence: "the same request came again after its answer"},
		{
			Name: Overlapped, Sentence: "two or more requests were inside the target at once",
			Also: "one was told that another is in progress", Impossible: []Obstacle{OneRequest},
		},
		{
			Name: WritesHeld, Sentence: "the writers of the table were held back while two or more requests were inside the target",
			Impossible: []Obstacle{NoWriteGate},
		},
		{
			Name: WorkedLong, Sentence: "a request took as long as it was made to, and another was inside the target meanwhile",
			Impossible: []Obstacle{OneRequest, NoWork},
		},
		{
			Name: Swept, Sentence: "the second request was released at its planned time, and both reached the target",
			Impossible: []Obstacle{NoSweep},
		},
		{
			Name: Crashed, Sentence: "the target's process was killed while the request was inside it, or after it was accepted for later, and started again",
			Impossible: []Obstacle{NoCrash},
		},
		{
			Name: Restarted, Sentence: "the target's process was killed after its answer, and the same request came again",
			Impossible: []Obstacle{NoSendAfterKill},
		},
	}
}

// losses has the proofs of what is lost, late or left behind.
func losses() []Proof {
	return []Proof{
		{
			Name: ResponseLost, Sentence: "the client got no answer, and the row is there",
			Impossible: []Obstacle{NoAnswerLost},
		},
		{
			Name: RequestLost, Sentence: "a request was sent and never reached the target",
			Impossible: []Obstacle{NoRequestLost},
		},
		{
			Name: CommittedBefore, Sentence: "the row was seen in the database before the retry was sent",
			Impossible: []Obstacle{NoWaitCommitted},
		},
		{
			Name: RetriedRunning, Sentence: "the retry reached the target while the first request was still running",
			Impossible: []Obstacle{OneRequest},
		},
		{
			Name: Delayed, Sentence: "the answer took at least as long as the lane's latency",
			Also: "the client gave up on a lane with latency", Impossible: []Obstacle{NothingSlow},
		},
		{
			Name: GaveUp, Sentence: "the client's deadline passed while the request was on its way or running",
			Impossible: []Obstacle{NoAnswerLost},
		},
		{
			Name: LeftRunning, Sentence: "the client was gone while the target was still working on its request",
			Impossible: []Obstacle{NoAnswerLost},
		},
	}
}

// bodiesAndKeys has the proofs of what requests of one intent, or of neighbours, carry.
func bodiesAndKeys() []Proof {
	return []Proof{
		{
			Name: BothBodies, Sentence: "both bodies reached the target under one key",
			Impossible: []Obstacle{NoAltered, NoOriginal},
		},
		{
			Name: Corrected, Sentence: "the invalid body was refused with a 4xx, and then the corrected one reached the target under its key",
			Impossible: []Obstacle{NoInvalid},
		},
		{
			Name: BothWays, Sentence: "two operations that make the same were sent it, and one of them acknowledged it",
			Impossible: []Obstacle{NoOtherWay, OneRequest},
		},
		{Name: DistinctKeys, Sentence: "another intent with the same body and another key was answered"},
		{
			Name: KeysDiffer, Sentence: "one intent reached the target with different keys",
			Impossible: []Obstacle{NoOtherKey},
		},
		{
			Name: KeyOmitted, Sentence: "a request without a key reached the target",
			Impossible: []Obstacle{NoKeyless},
		},
		{
			Name: Neighbours, Sentence: "it was answered, and so was a neighbour that it may be mistaken for",
			Impossible: []Obstacle{NoNeighbours},
		},
		{
			Name: Respelled, Sentence: "the same request in another spelling was taken for a repetition, or for another request",
			Impossible: []Obstacle{NoRespell},
		},
		{
			Name: TurnedAway, Sentence: "a request without the credential was refused before there was anything to tell of, and one reached the target afterwards",
			Impossible: []Obstacle{NoCredential},
		},
		{
			Name: AnsweredLarge, Sentence: "it was acknowledged with 64 KiB or more, and the same request came again",
			Impossible: []Obstacle{NoLargeAnswer, OneRequest},
		},
		{
			Name: AnsweredHuge, Sentence: "it was acknowledged with 1 MiB or more, and the same request came again",
			Impossible: []Obstacle{NoHugeAnswer, OneRequest},
		},
		{
			Name: AnsweredEmpty, Sentence: "it was acknowledged without a body, and the same request came again",
			Impossible: []Obstacle{NoEmptyAnswer, OneRequest},
		},
		{
			Name: Expired, Sentence: "the same request came again after its key was to be forgotten",
			Impossible: []Obstacle{NoWaitExpired},
		},
		{
			Name: RetriedLate, Sentence: "the same request came again late, when the target had to know its key still",
			Impossible: []Obstacle{NoWaitRemembered},
		},
		{
			Name: Looked, Sentence: "the database was asked after an acknowledgement",
			Impossible: []Obstacle{NoLook},
		},
	}
}

// environment has the proofs of what happens to links, stores, rows and instances.
func environment() []Proof {
	return []Proof{
		{
			Name: LinkDelayed, Sentence: "a question passed a slow link and waited for its answer while a request was inside the target",
			Impossible: []Obstacle{NoSlowLink},
		},
		{
			Name: LinkCut, Sentence: "a link of the target broke while a request was inside",
			Impossible: []Obstacle{NoCut},
		},
		{
			Name: LinkAway, Sentence: "a link of the target broke, and the same request came again while it was still broken",
			Impossible: []Obstacle{NoSendAfterCut},
		},
		{
			Name: Flushed, Sentence: "the target's store lost what it held, and then the same request came again",
			Also: "it lost that while the first of them was inside", Impossible: []Obstacle{NoFlush},
		},
		{
			Name: Removed, Sentence: "what was made was removed, and another request for it reached the target",
			Impossible: []Obstacle{NoRemove},
		},
		{
			Name: Instances, Sentence: "two or more instances of the target had a request of it",
			Impossible: []Obstacle{OneRequest},
		},
		{Name: EffectSeen, Sentence: "each of its effects that is counted at a sink was there"},
		{
			Name: EffectDisturbed, Sentence: "a sink did what it was asked, its answer was lost, late or a failure, and the request reached the target more than once",
			Impossible: []Obstacle{OneRequest, NoSinkFault},
		},
		{
			Name: EffectCrashed, Sentence: "the target's process was killed when an effect was at its sink, and started again",
			Impossible: []Obstacle{NoEffectCrash},
		},
	}
}
