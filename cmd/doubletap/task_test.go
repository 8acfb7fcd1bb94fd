package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// TestACoordinatorAsksOnlyForWhatRunCanSay is about tasks that another machine has sent.
func TestACoordinatorAsksOnlyForWhatRunCanSay(t *testing.T) {
	t.Parallel()
	usual := func() task {
		return task{MaxRequests: 10, Known: scenarios.Register{}, Scenarios: []sentScenario{{"a.yaml", "name: a"}}}
	}
	read := func(t task) error {
		text, _ := json.Marshal(t)
		_, err := readTask(text)
		return err
	}
	require.NoError(t, read(usual()))
	for says, change := range map[string]func(*task){
		"a hunt": func(t *task) { t.Course.Hunt = &engine.Hunt{} }, "a negative duration": func(t *task) { t.Course.Budget = -1 },
		"scenarios at once": func(t *task) { t.Course.Parallel = -1 }, "a confidence that is none": func(t *task) { t.Confidence = 1 },
		"no requests": func(t *task) { t.MaxRequests = 0 }, "no scenario": func(t *task) { t.Scenarios = nil },
	} {
		asked := usual()
		change(&asked)
		require.ErrorContains(t, read(asked), says)
	}
	for _, text := range []string{"", "null", "[]", `{"toxiproxy":"http://192.0.2.1"}`, strings.Repeat("[", 100_000)} {
		_, err := readTask([]byte(text))
		require.Error(t, err)
	}
	require.Equal(t, "a b"+strings.Repeat("x", 297)+"...", oneLine("a\n b"+strings.Repeat("x", 5000)))
}

// FuzzTask reads anything as a task of a coordinator. What is taken asks for no more than the flags of run can say.
func FuzzTask(f *testing.F) {
	for _, text := range []string{`{"max_requests":10,"scenarios":[{"name":"a.yaml","text":"name: a"}]}`, `{"MaxRequests":10,"Scenarios":[{"Name":"../a.yaml","Text":"name: a\nsummary: s\nintents: 1\nsteps: [{send: {}}]\nexercised: [acknowledged]\n"}]}`, `null`, `{} {}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		asked, err := readTask(text)
		if err != nil {
			return
		}
		require.Nil(t, asked.Course.Hunt)
		require.Positive(t, asked.MaxRequests)
		files, err := asked.files()
		if err == nil {
			require.Len(t, files, len(asked.Scenarios))
		}
	})
}
