package checker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// gone is a removal of what i1 had made, between 20 and 25 ms.
func gone(h *history.History) *history.History { return removal(ms(25), "", h) }

func removal(done history.Offset, why string, h *history.History) *history.History {
	h.Removals = append(h.Removals, history.Removal{Intent: "i1", Begun: ms(20), Found: 1, Done: done, Error: why})
	return h
}

func TestWhatComesAfterARemovalIsAnotherIntent(t *testing.T) {
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
		"it is refused for good":         {story(first, again(rejected(400))).rows(0), []string{"false-conflict"}},
		"its first answers differ":       {story(first, during(15, 19, acknowledged(201, "o9")), again(acknowledged(201, "o2"))).holding("o2"), []string{"replay-mismatch/identity", "replay-mismatch/body"}},
		"nothing is wanted any more":     {story(first).rows(0), nil},
		"a refusal before is no promise": {story(rejected(400), during(15, 19, acknowledged(201, "o1")), again(acknowledged(201, "o2"))).holding("o2"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			judge(t, gone(scene(c.story)), terms(naturalKey), c.want, "")
		})
	}
}

func TestARowAfterARemovalIsInconclusive(t *testing.T) {
	judge(t, gone(scene(story(acknowledged(201, "o1")).rows(1))), terms(naturalKey), nil, "another client writes its marker")
}

func TestAnUnconfirmedRemovalIsADoubt(t *testing.T) {
	second := keyed("fresh", during(30, 39, exists("o1")))
	lost := during(10, 19, unknown(history.Timeout))
	for doubt, h := range map[string]*history.History{
		"i1: step 1 was answered 404":                             removal(0, "step 1 was answered 404", scene(story(acknowledged(201, "o1"), second).rows(0))),
		"i1: the removal was not confirmed":                       removal(0, "", scene(story(acknowledged(201, "o1"), second).rows(0))),
		"i1: the target may not have been done with attempt i1.2": gone(scene(story(during(5, 9, acknowledged(201, "o1")), lost, second).rows(0))),
		"the removal for 1 intent was not confirmed":              gone(scene(story(acknowledged(201, "o1"), during(12, 18, inProgress()), second).rows(0))),
		"may not have been done with attempt i1.1":                gone(scene(story(during(10, 22, acknowledged(201, "o1")), second).rows(0))),
		"the target may not have been done with attempt i1.1":     gone(scene(story(answer(202, `{"id":"o1"}`), second).then(history.Followup{Attempt: "i1.1", At: ms(500), Status: 200, Content: `{"state":"done","order":"o1"}`, Complete: true}).rows(0))),
	} {
		t.Run(doubt, func(t *testing.T) { judge(t, h, terms(naturalKey, accepting), nil, doubt) })
	}
}

func TestWhatHappenedBeforeARemovalIsNotForgotten(t *testing.T) {
	several := func(h *history.History) *history.History { h.Removals[0].Found = 2; return h }
	again := keyed("fresh", during(30, 39, acknowledged(201, "o2")))
	judge(t, several(gone(scene(story(acknowledged(201, "o1"), again).holding("o2")))), terms(naturalKey), []string{"duplicate"}, "")
	judge(t, several(removal(0, "its row is still found (1)", scene(story(acknowledged(201, "o1"), again).holding("o2")))), terms(), []string{"duplicate"}, "")
	own := keyed("another", during(12, 19, acknowledged(201, "o9")))
	judge(t, several(gone(scene(story(acknowledged(201, "o1"), own, again).holding("o2")))), terms(), nil, "")

	mine := story(acknowledged(201, "o1"), again).holding("o2").of("alice")
	shown := story(saying(`{"id":"o8","note":"dti1"}`, acknowledged(201, "o8"))).named("i2").holding("o8").of("bob")
	judge(t, gone(scene(mine, shown)), terms(), []string{"leak"}, "")
	told := story(saying(`{"id":"o1","note":"dti2"}`, acknowledged(201, "o1")), again).holding("o2").of("alice")
	judge(t, gone(scene(told, story(acknowledged(201, "o8")).named("i2").holding("o8").of("bob"))), terms(), []string{"leak"}, "")
}

func TestASessionThatEndsAfterARemovalIsNoRefusal(t *testing.T) {
	var all []*draft
	for _, id := range []string{"i1", "i2"} {
		away := keyed("fresh", during(30, 39, answer(401, "")))
		all = append(all, story(acknowledged(201, "o-"+id), away).named(id).rows(0).probe(keyed("fresh", answer(401, ""))))
	}
	h := scenes(all)
	for _, id := range []string{"i1", "i2"} {
		h.Removals = append(h.Removals, history.Removal{Intent: id, Begun: ms(20), Found: 1, Done: ms(25)})
	}
	judge(t, h, terms(naturalKey), nil, "did the session expire?")
}

func TestAFindingAfterARemovalTellsOfBoth(t *testing.T) {
	r := check(gone(scene(story(acknowledged(201, "o1"), keyed("fresh", during(30, 39, exists("o1")))).rows(0))), terms(naturalKey))
	f := r.Findings[0]
	require.Len(t, f.Attempts, 2)
	require.Equal(t, []checker.Outcome{checker.Acknowledged, checker.Exists}, f.Outcomes)
	require.Len(t, f.Removals, 1)
	r = check(removal(ms(25), "", scene(story(acknowledged(201, "o1"), keyed("fresh", during(30, 39, acknowledged(201, "o2")))).holding("o2"))), terms(naturalKey))
	require.Equal(t, 3, r.Outcomes[checker.Acknowledged], "every attempt is counted")
	require.Equal(t, "an acknowledgement: the row that was made before is removed", f.Expected)
}

// A target that counts may count the requests that remove as well.
func TestRequestsThatRemoveMayBeCounted(t *testing.T) {
	for counted, doubt := range map[int64]string{2: "reached it", 3: "", 4: "reached it", 5: "", 6: "reached it"} {
		h := gone(scene(story(acknowledged(201, "o1"), keyed("fresh", during(30, 39, acknowledged(201, "o2")))).holding("o2")))
		h.Run.Lanes[0].Doorstep = true
		for i := range h.Attempts {
			h.Attempts[i] = passing(history.Passage{Up: 100}, h.Attempts[i])
		}
		h.Steps = []history.Step{{For: history.Remove, Status: 204}, {For: history.Remove, Status: 200}, {For: history.Remove}, {For: history.Cleanup, Status: 204}}
		h.Received = &history.Received{After: counted}
		r := check(h, terms(naturalKey))
		if doubt == "" {
			require.Equal(t, checker.Pass, r.Verdict)
			continue
		}
		require.Equal(t, checker.Broken, r.Verdict)
		require.Contains(t, strings.Join(r.Reasons, "\n"), doubt)
	}
}
