package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// gone is a removal of what i1 had made, between 20 and 25 ms.
func gone(h *history.History) *history.History { return removal(ms(25), "", h) }

func removal(done history.Offset, why string, h *history.History) *history.History {
	h.Removals = append(h.Removals, history.Removal{Intent: "i1", Begun: ms(20), Done: done, Error: why})
	return h
}

func TestWhatComesAfterARemovalIsAnotherWish(t *testing.T) {
	again := func(a history.Attempt) history.Attempt { return keyed("fresh", during(30, 39, a)) }
	asked := func(a history.Attempt) history.Attempt { return keyed("fresh", a) }
	first := acknowledged(201, "o1")
	for name, c := range map[string]struct {
		story *draft
		want  []string
	}{
		"it is made again": {story(first, again(acknowledged(201, "o2"))).holding("o2"), nil},
		"and the probe is told so": {
			story(first, again(acknowledged(201, "o2"))).holding("o2").probe(asked(exists("o2"))), nil,
		},
		"it is refused as what is gone":  {story(first, again(exists("o1"))).rows(0), []string{"false-conflict"}},
		"it is told of what is gone":     {story(first, again(acknowledged(200, "o1"))).rows(0), []string{"lost-acknowledged-write"}},
		"it is made twice":               {story(first, again(acknowledged(201, "o2"))).holding("o2", "o3"), []string{"duplicate"}},
		"the probe makes one more":       {story(first, again(acknowledged(201, "o2"))).holding("o2").later("o2", "o3"), []string{"duplicate"}},
		"it is refused for good":         {story(first, again(rejected(400))).rows(0), nil},
		"nothing is wanted any more":     {story(first).rows(0), nil},
		"a refusal before is no promise": {story(rejected(400), during(15, 19, acknowledged(201, "o1")), again(acknowledged(201, "o2"))).holding("o2"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			judge(t, gone(scene(c.story)), terms(naturalKey), c.want, "")
		})
	}
}

func TestNobodyKnowsWhoMadeWhatIsThereAfterARemoval(t *testing.T) {
	judge(t, gone(scene(story(acknowledged(201, "o1")).rows(1))), terms(naturalKey), nil, "somebody else writes its marker")
}

func TestAStoryWithoutACleanRemovalIsNotJudged(t *testing.T) {
	second := keyed("fresh", during(30, 39, exists("o1")))
	lost := during(10, 19, unknown(history.Timeout))
	for name, h := range map[string]*history.History{
		"it failed":                       removal(0, "step 1 was answered 404", scene(story(acknowledged(201, "o1"), second).rows(0))),
		"who was lost may still be there": gone(scene(story(acknowledged(201, "o1"), lost, second).rows(0))),
		"somebody is being served":        gone(scene(story(acknowledged(201, "o1"), during(12, 18, inProgress()), second).rows(0))),
	} {
		t.Run(name, func(t *testing.T) {
			h.Run.Exercised = append(h.Run.Exercised, history.Proof{Name: string(checker.ProofRemoved)})
			judge(t, h, terms(naturalKey), nil, "not exercised")
		})
	}
	r := checker.Check(removal(0, "step 1 was answered 404", scene(story(acknowledged(201, "o1"), second).rows(0))), terms(naturalKey))
	require.Equal(t, "not-removed", r.Warnings[0].Kind)
	require.Equal(t, []string{"i1"}, r.Warnings[0].Intents)
	require.Contains(t, r.Warnings[0].Text, "step 1 was answered 404")
}

func TestAFindingAfterARemovalTellsOfBoth(t *testing.T) {
	r := checker.Check(gone(scene(story(acknowledged(201, "o1"), keyed("fresh", during(30, 39, exists("o1")))).rows(0))), terms(naturalKey))
	f := r.Findings[0]
	require.Len(t, f.Attempts, 2)
	require.Equal(t, []checker.Outcome{checker.Acknowledged, checker.Exists}, f.Outcomes)
	require.Len(t, f.Removals, 1)
	require.Equal(t, "an acknowledgement: what was made before is gone", f.Expected)
}

// A target that counts may count the requests that remove as well.
func TestRequestsThatRemoveMayBeCounted(t *testing.T) {
	for counted, doubt := range map[int64]string{2: "reached it", 3: "", 4: "", 5: "reached it"} {
		h := gone(scene(story(acknowledged(201, "o1"), keyed("fresh", during(30, 39, acknowledged(201, "o2")))).holding("o2")))
		h.Run.Lanes[0].Doorstep = true
		for i := range h.Attempts {
			h.Attempts[i] = passing(history.Passage{Up: 100}, h.Attempts[i])
		}
		h.Steps = []history.Step{{For: history.Remove}, {For: history.Cleanup}}
		h.Received = &history.Received{After: counted}
		r := checker.Check(h, terms(naturalKey))
		if doubt == "" {
			require.Equal(t, checker.Pass, r.Verdict)
			continue
		}
		require.Equal(t, checker.Broken, r.Verdict)
		require.Contains(t, r.Reasons[0], doubt)
	}
}
