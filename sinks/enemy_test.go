package sinks

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// watched is an inbox that takes down what comes, and keeps none of what goes to the history.
func watched(spec targets.Sink) *Inbox {
	return &Inbox{
		name: "payments", spec: spec, first: map[string]string{}, disturbed: map[string]bool{},
		watch: &Watch{Base: time.Now(), Record: func(history.Message) {}, Hide: func(text string) string { return text }},
	}
}

// TestMessagesOfAnEnemyFitIntoMemory has a target send few messages with long texts. Those that do not fit are counted.
func TestMessagesOfAnEnemyFitIntoMemory(t *testing.T) {
	t.Parallel()
	long, many := strings.Repeat("x", 1<<20), 80
	for name, m := range map[string]history.Message{
		"a method": {Method: long}, "a path": {Path: long}, "a key": {Key: long}, "a subject": {Subject: long}, "an intent": {Intent: long}, "an error": {Error: long}, "receivers": {To: []string{"a", long}},
		"traces": {Traces: []string{"a", long}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := watched(targets.Sink{})
			for range many {
				in.Note(m, nil)
			}
			require.Less(t, len(in.seen), 70)
			require.Equal(t, many, len(in.seen)+in.end())
			in = watched(targets.Sink{})
			for i := range many {
				m.Key = string(rune('a'+i)) + long
				in.Take(m, nil, 0)
			}
			require.Less(t, len(in.first), 70)
		})
	}
}

// TestWhatIsPublishedByAnEnemyFitsIntoMemory has a broker hold messages with much more than is looked at, and long keys.
func TestWhatIsPublishedByAnEnemyFitsIntoMemory(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	spec := targets.Sink{Redis: &targets.RedisSink{Stream: "s", Message: targets.MessageParts{Key: "key", Intent: "/order", Idempotent: true}}}
	in := watched(spec)
	in.keys = mostHeld - len(long)
	for _, key := range []string{"a" + long, "b"} {
		in.Publish(Published{Fields: map[string]string{"key": key}})
	}
	require.Equal(t, map[string]string{"b": "payments-2"}, in.first)
	for name, p := range map[string]Published{
		"a body":     {Body: []byte(`{"order": "7", "more": [` + strings.Repeat("{},", 2<<20) + "{}]}")},
		"a field":    {Fields: map[string]string{"order": `{"a": [` + strings.Repeat("{},", 2<<20) + "{}]}"}},
		"fields":     {Fields: map[string]string{"a": long, "b": long, "c": long, "d": long, "e": long}},
		"traces":     {Body: []byte(strings.Repeat("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 ", 1<<17))},
		"a bomb":     {Body: bytes.Repeat([]byte{0x1f, 0x8b}, 4<<20)},
		"two fields": {Body: []byte("x"), Fields: map[string]string{"a": long, "b": strings.Repeat(long, 4)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := watched(spec)
			in.Publish(p)
			m := in.seen[0]
			require.Contains(t, m.Error, "bytes, of which the first 4194304 were looked at")
			require.Empty(t, m.Intent)
			require.LessOrEqual(t, len(m.Traces), mostNames)
		})
	}
}

// TestCredentialsOfTheTargetAreNotOnRecord: nobody knows them but by their names.
func TestCredentialsOfTheTargetAreNotOnRecord(t *testing.T) {
	t.Parallel()
	for said, on := range map[string]string{
		`/v1/charges?api_key=hush&order=7&Access-Token=hush`:         `/v1/charges?api_key=***&order=7&Access-Token=***`,
		`{"client_secret": "hush \"hush", "amount": 5, "note": "x"}`: `{"client_secret": "***", "amount": 5, "note": "x"}`,
		`password=hush&source[card]=hush&amount=5`:                   `password=***&source[card]=***&amount=5`,
		`/tokens/7?q=token`: `/tokens/7?q=token`,
	} {
		in := watched(targets.Sink{})
		var got history.Message
		in.watch.Record = func(m history.Message) { got = m }
		in.Note(history.Message{Path: said}, []byte(said))
		require.Equal(t, on, got.Path)
		require.Equal(t, on, got.Content)
	}
}

// TestAnswersToKeysOfAnEnemyFitIntoMemory has a target send long keys to a sink that repeats its answers.
func TestAnswersToKeysOfAnEnemyFitIntoMemory(t *testing.T) {
	t.Parallel()
	spec := targets.HTTPSink{Key: targets.SinkKey{In: contract.KeyInHeader, Name: "Idempotency-Key"}, Idempotent: true}
	h := &httpSink{inbox: watched(targets.Sink{HTTP: &spec}), spec: spec, first: map[string]answered{}}
	long := strings.Repeat("x", 1<<20)
	for i := range 80 {
		h.act(&history.Message{Method: "POST", Path: "/charges", Key: string(rune('a'+i)) + long}, nil, nil)
	}
	require.Less(t, len(h.first), 70)
}

// FuzzRequest has a target send anything to a sink. It is answered, and what is on record fits into a history.
func FuzzRequest(f *testing.F) {
	for _, c := range []struct{ path, kind, text string }{
		{"/v1/charges?order=dtabcdefgh12345678", "application/json", `{"metadata": {"order": "dtabcdefgh12345678"}, "amount": 1e999999}`},
		{"/v1/charges", "application/x-www-form-urlencoded", "metadata[order]=x&metadata[order][a]=y&metadata=z&[]=1&a[=2"},
		{"/v1/charges/%2e%2e/x", "application/json; charset=utf-16", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"/v1/charges/7", "multipart/form-data", `ZHRhYmNkZWZnaDEyMzQ1Njc4ZHRhYmNkZWZnaDEyMzQ1Njc4 %64%74 \u0064 \"`},
	} {
		f.Add(c.path, c.kind, []byte(c.text))
	}
	specs := []targets.HTTPSink{}
	for _, in := range []contract.KeyPlace{contract.KeyInHeader, contract.KeyInBody, contract.KeyInQuery} {
		specs = append(specs, targets.HTTPSink{Key: targets.SinkKey{In: in, Name: "key"}, Intent: targets.SinkKey{In: contract.KeyInBody, Name: "/metadata/order"}, Idempotent: true})
	}
	specs = append(specs, targets.HTTPSink{Key: targets.SinkKey{In: contract.KeyInPath, Name: "/v1/charges/*"}})
	f.Fuzz(func(t *testing.T, path, kind string, text []byte) {
		for _, spec := range specs {
			in := watched(targets.Sink{HTTP: &spec})
			var on []history.Message
			in.watch.Record = func(m history.Message) { on = append(on, m) }
			r, err := http.NewRequest(http.MethodPost, "http://localhost"+path, bytes.NewReader(text))
			if err != nil {
				return
			}
			r.Header.Set("Content-Type", kind)
			r.Header.Set("Key", path)
			w := httptest.NewRecorder()
			(&httpSink{inbox: in, spec: spec, first: map[string]answered{}}).ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code)
			require.Len(t, on, 1)
			require.LessOrEqual(t, len(on[0].Names), mostNames)
			_, err = json.Marshal(on[0])
			require.NoError(t, err)
		}
	})
}
