package driver_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

func alter() scenarios.Step {
	s := plain()
	return scenarios.Step{Alter: &s}
}

func TestAFormIsSentAndWhatItSaysIsOnRecord(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*targets.Request){
		"urlencoded": func(r *targets.Request) { r.Form, r.Body = r.Body, nil },
		"multipart":  func(r *targets.Request) { r.Multipart, r.Body = r.Body, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen ledger
			r := newRig(t, serve(t, func(_ http.ResponseWriter, r *http.Request) {
				seen.add(r.PostFormValue("note") + " " + r.PostFormValue("amount") + " " + r.PostFormValue("request_id") + " " + r.PostFormValue("secret"))
			}), send(), alter())
			r.Operations[0].Request.Body["secret"] = "{{.Principal.Token}}"
			change(&r.Operations[0].Request)
			r.Operations[0].Key = targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "request_id"}}
			h := r.drive(t)
			bodies := h.Intents[0].Bodies
			original, altered, key := bodies[history.Original], bodies[history.Altered], h.Attempts[0].Key
			require.Equal(t, []string{
				original.Marker + " 1200 " + key + " sesame-open-9", altered.Marker + " 9900 " + key + " sesame-open-9",
			}, seen.all())
			require.JSONEq(t, `{"note":"`+original.Marker+`","amount":1200,"secret":"***"}`, original.JSON())
			require.JSONEq(t, `{"note":"`+altered.Marker+`","amount":9900,"secret":"***"}`, altered.Says)
			require.Contains(t, original.Content, original.Marker)
			require.NotContains(t, string(r.file.bytes()), "sesame")
		})
	}
}

func TestAFormIsNotSpelledInAnotherWay(t *testing.T) {
	t.Parallel()
	r := newRig(t, deaf(t), respelled(scenarios.SpellingOrder))
	r.Operations[0].Request.Form, r.Operations[0].Request.Body = r.Operations[0].Request.Body, nil
	require.ErrorContains(t, r.Drive(t.Context()), "the body is a form")
	require.Empty(t, r.history(t).Attempts)
}

func TestWhatAJSONBodySaysIsItsContent(t *testing.T) {
	t.Parallel()
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send())
	body := r.drive(t).Intents[0].Bodies[history.Original]
	require.Empty(t, body.Says)
	require.Equal(t, body.Content, body.JSON())
}

func TestAKeyTravelsInThePath(t *testing.T) {
	t.Parallel()
	var seen ledger
	r := newRig(t, serve(t, func(_ http.ResponseWriter, r *http.Request) { seen.add(r.Method + " " + r.RequestURI) }), send(), send())
	r.Target.BaseURL = "http://orders.test/api/v2/"
	r.Operations[0].Request.Method, r.Operations[0].Request.Path = "PUT", "/orders/{{.Key}}/lines?x=1"
	r.Operations[0].Key = targets.Key{Key: contract.Key{In: contract.KeyInPath, Required: true}}
	h := r.drive(t)
	want := "PUT /api/v2/orders/" + h.Attempts[0].Key + "/lines?x=1"
	require.Equal(t, []string{want, want}, seen.all())
	require.Equal(t, "/orders/{{.Key}}/lines?x=1", h.Intents[0].Bodies[history.Original].Path)
}

func TestAnAwkwardKeyInThePathArrivesAsItIs(t *testing.T) {
	t.Parallel()
	for _, likeness := range []scenarios.Likeness{scenarios.KeysSpace, scenarios.KeysQuote, scenarios.KeysLong, scenarios.KeysCase} {
		var seen ledger
		s := scenarios.Scenario{Name: "kin", Intents: 2, Concurrency: 1, Neighbours: &scenarios.Neighbours{Of: 2, Keys: likeness}, Steps: []scenarios.Step{send()}}
		r := newRigFor(t, serve(t, func(_ http.ResponseWriter, r *http.Request) { seen.add(strings.TrimPrefix(r.URL.Path, "/orders/")) }), s)
		r.Operations[0].Request.Path = "/orders/{{.Key}}"
		r.Operations[0].Key = targets.Key{Key: contract.Key{In: contract.KeyInPath, Required: true}}
		h := r.drive(t)
		require.Equal(t, []string{h.Attempts[0].Key, h.Attempts[1].Key}, seen.all(), likeness)
	}
}

func TestAKeyInThePathIsNeverLeftOut(t *testing.T) {
	t.Parallel()
	blank := scenarios.Scenario{Name: "kin", Intents: 2, Concurrency: 1, Neighbours: &scenarios.Neighbours{Of: 2, Keys: scenarios.KeysBlank}, Steps: []scenarios.Step{send()}}
	for _, s := range []scenarios.Scenario{{Name: "trial", Intents: 1, Concurrency: 1, Steps: []scenarios.Step{tabs(1, scenarios.NoKey)}}, blank} {
		r := newRigFor(t, deaf(t), s)
		r.Operations[0].Request.Path = "/orders/{{.Key}}"
		r.Operations[0].Key = targets.Key{Key: contract.Key{In: contract.KeyInPath, Required: true}}
		require.ErrorContains(t, r.Drive(t.Context()), "cannot be left out")
		require.Empty(t, r.history(t).Attempts)
	}
}

// signed is a rig whose requests are signed with a secret, over time, method, path, key and body.
func signed(t *testing.T, handler http.HandlerFunc, steps ...scenarios.Step) *rig {
	r := newRig(t, serve(t, handler), steps...)
	r.Target.BaseURL, r.Target.Secrets = "http://orders.test/api", []string{"the-secret-that-signs"}
	r.Operations[0].Request.Sign = &targets.Sign{
		Header: "X-Signature", HMAC: targets.HashSHA256, Secret: "the-secret-that-signs", Encoding: targets.EncodingHex, Prefix: "v1=",
		Over: "{{.Time}}.{{.Method}}.{{.Path}}.{{.Key}}.{{.Body}}", Time: &targets.SignTime{Header: "X-Time"},
	}
	return r
}

// verifies reports whether a request is signed as it should be.
func verifies(r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	mac := hmac.New(sha256.New, []byte("the-secret-that-signs"))
	_, _ = io.WriteString(mac, r.Header.Get("X-Time")+"."+r.Method+"."+r.RequestURI+"."+r.Header.Get("Idempotency-Key")+"."+string(body))
	return hmac.Equal([]byte(r.Header.Get("X-Signature")), []byte("v1="+hex.EncodeToString(mac.Sum(nil))))
}

func TestEveryAttemptIsSignedForItself(t *testing.T) {
	t.Parallel()
	var seen ledger
	patient := plain()
	patient.Retry = &scenarios.Retry{Max: 1, On: []scenarios.RetryOn{"503"}, Key: scenarios.FreshKey}
	r := signed(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Said", "the-secret-that-signs")
		if !verifies(r) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if seen.add(r.Header.Get("X-Signature")); len(seen.all()) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}, scenarios.Step{Send: &patient}, alter(), burst(3), respelled(scenarios.SpellingOrder), tabs(1, scenarios.NoKey))
	r.drive(t)
	require.NoError(t, r.Probe(t.Context(), driver.Probing{Tries: 1}, false, func(history.Attempt) bool { return true }))
	h := r.history(t)
	require.Greater(t, len(h.Attempts), 8)
	for i, a := range h.Attempts[1:] {
		require.Equal(t, http.StatusOK, a.Status, "attempt %d", i)
	}
	require.Equal(t, http.StatusServiceUnavailable, h.Attempts[0].Status)
	require.GreaterOrEqual(t, len(seen.tally()), 5, "what differs is signed differently")
	record := string(r.file.bytes())
	require.NotContains(t, record, "the-secret-that-signs")
	require.NotContains(t, record, "v1=", "a signature must not be sent again")
}

func TestATargetThatKnowsAnotherSecretRefuses(t *testing.T) {
	t.Parallel()
	r := signed(t, func(w http.ResponseWriter, r *http.Request) {
		if !verifies(r) {
			w.WriteHeader(http.StatusForbidden)
		}
	}, send())
	r.Operations[0].Request.Sign.Secret = "another-secret-altogether"
	require.Equal(t, http.StatusForbidden, r.only(t).Status)
}

func TestTheTimeOfASignatureIsThatOfTheAttempt(t *testing.T) {
	t.Parallel()
	var seen ledger
	began := time.Now().Unix()
	r := signed(t, func(_ http.ResponseWriter, r *http.Request) { seen.add(r.Header.Get("X-Time")) }, send())
	r.Base = time.Now().Add(-time.Hour)
	r.drive(t)
	var sent int64
	require.NoError(t, json.Unmarshal([]byte(seen.all()[0]), &sent))
	require.GreaterOrEqual(t, sent, began)
	require.LessOrEqual(t, sent, time.Now().Unix())
}

func TestFunctionsDrawForAFamilyOfBodies(t *testing.T) {
	t.Parallel()
	bodies := func(run string, base time.Time) []map[string]any {
		var all []map[string]any
		s := scenarios.Scenario{Name: "trial", Intents: 4, Twins: 2, Concurrency: 1, Steps: []scenarios.Step{send(), alter()}}
		r := newRigFor(t, serve(t, func(http.ResponseWriter, *http.Request) {}), s)
		r.Names.Run, r.Base = run, base
		r.Operations[0].Request.Body = map[string]any{
			"note": "{{.Intent.Marker}}", "amount": 1, "who": `{{fake "name"}} {{random 1 1000000}}`, "mail": `{{unique "email"}}`, "day": "{{now}}",
		}
		for _, i := range r.drive(t).Intents {
			for _, name := range []string{history.Original, history.Altered} {
				var members map[string]any
				require.NoError(t, json.Unmarshal([]byte(i.Bodies[name].Content), &members))
				all = append(all, members)
			}
		}
		return all
	}
	base := time.Now()
	first, again := bodies("r1", base), bodies("r2", base.Add(time.Hour))
	for _, name := range []string{"who", "mail"} {
		require.Equal(t, first[0][name], first[1][name], "original and altered")
		require.Equal(t, first[0][name], first[2][name], "twins")
		require.NotEqual(t, first[0][name], first[4][name], "another family")
	}
	for i := range first {
		require.Equal(t, first[i]["who"], again[i]["who"])
		require.NotEqual(t, first[i]["mail"], again[i]["mail"])
		require.Equal(t, base.UTC().Format(time.RFC3339), first[i]["day"])
		require.NotEqual(t, first[i]["day"], again[i]["day"])
	}
}

func TestAnAlteredBodyThatCameOutTheSameIsNotSent(t *testing.T) {
	t.Parallel()
	s := scenarios.Scenario{Name: "trial", Intents: 20, Concurrency: 1, Steps: []scenarios.Step{send(), alter()}}
	r := newRigFor(t, deaf(t), s)
	r.Operations[0].Request.Body["amount"] = "{{random 1 2 | json}}"
	r.Operations[0].Alter["amount"] = "{{random 1 2 | json}}"
	require.ErrorContains(t, r.Drive(t.Context()), "came out the same")
	require.Empty(t, r.history(t).Attempts)
}

func TestStepsHaveFormsAndSignaturesAndDrawForThemselves(t *testing.T) {
	t.Parallel()
	var seen ledger
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		if r.URL.Path == "/login" || verifies(r) {
			r.Body = io.NopCloser(strings.NewReader(string(raw)))
			seen.add(r.URL.Path + " " + r.PostFormValue("user") + r.PostFormValue("mail"))
		}
		_, _ = io.WriteString(w, `{"token":"the-token-of-alice"}`)
	})
	r := newRig(t, address, send())
	r.Target.BaseURL = "http://" + address // steps take no lane
	sign := &targets.Sign{
		Header: "X-Signature", HMAC: targets.HashSHA256, Secret: "the-secret-that-signs", Encoding: targets.EncodingHex, Prefix: "v1=",
		Over: "{{.Time}}.{{.Method}}.{{.Path}}..{{.Body}}", Time: &targets.SignTime{Header: "X-Time"},
	}
	r.Target.Login = []targets.Step{{
		Request: targets.Request{Method: "POST", Path: "/login", Form: map[string]any{"user": "alice & co"}},
		Extract: map[string]targets.Extract{"Token": {JSON: "/token"}},
	}}
	prepare := targets.Step{Request: targets.Request{Method: "POST", Path: "/customers", Form: map[string]any{"mail": `{{unique "email"}}`}, Sign: sign}}
	r.Operations[0].Prepare = []targets.Step{prepare, prepare}
	r.Operations[0].Request = targets.Request{Method: "POST", Path: "/orders", Form: map[string]any{"mail": `{{unique "email"}}`, "note": "{{.Intent.Marker}}"}}
	r.Operations[0].Key, r.Operations[0].Alter = targets.Key{}, nil
	r.Operations[0].Request.Sign = sign
	require.NoError(t, r.SetUp(t.Context()))
	r.drive(t)
	all := seen.all()
	require.Len(t, all, 4)
	require.Equal(t, "/login alice & co", all[0])
	mails := map[string]bool{}
	for i, path := range []string{"/customers ", "/customers ", "/orders "} {
		require.Regexp(t, "^"+path+"[a-z2-7]{16}@example.com$", all[i+1])
		mails[strings.TrimPrefix(all[i+1], path)] = true
	}
	require.Len(t, mails, 3, "each draws one of its own")
	require.NotContains(t, string(r.file.bytes()), "the-secret-that-signs")
}

func TestARequestSaysHowLongItIsToTake(t *testing.T) {
	t.Parallel()
	for lease, want := range map[time.Duration]string{0: "600", 400 * time.Millisecond: "300"} {
		var said []string
		address := serve(t, func(_ http.ResponseWriter, r *http.Request) { said = append(said, r.Header.Get("X-Delay")) })
		r := newRigFor(t, address, scenarios.Scenario{
			Name: "long", Intents: 2, Concurrency: 1, Work: []faults.Duration{faults.Duration(600 * time.Millisecond), 0},
			Steps: []scenarios.Step{send()},
		})
		r.Target.Contract.Lease = contract.Duration(lease)
		r.Operations[0].Work = &targets.Work{Header: map[string]string{"X-Delay": "{{.Intent.Work}}"}}
		h := r.drive(t)
		require.Equal(t, []string{want, ""}, said, "no longer than what the contract takes for dead")
		require.Equal(t, want+"ms", h.Intents[0].Work.Duration().String())
	}
}

func TestTheFirstRequestOfAnIntentIsHeld(t *testing.T) {
	t.Parallel()
	r := newRigFor(t, serve(t, func(http.ResponseWriter, *http.Request) {}), scenarios.Scenario{
		Name: "long", Intents: 3, Concurrency: 3, Work: []faults.Duration{faults.Duration(time.Millisecond)},
		Steps: []scenarios.Step{send(), send()},
	})
	var numbers []int
	waiting := false
	r.Controls.Prolong = func(number int, work time.Duration) (<-chan struct{}, func()) {
		require.False(t, waiting, "one after the other")
		require.Equal(t, time.Millisecond, work)
		numbers, waiting = append(numbers, number), true
		held := make(chan struct{})
		close(held)
		return held, func() { waiting = false }
	}
	require.Len(t, r.drive(t).Attempts, 6)
	require.ElementsMatch(t, []int{1, 2, 3}, numbers)
	require.False(t, waiting)
}

// Copies that wait for one another at a row would each take long, one after the other, and the run with them.
func TestOnlyTheFirstRequestsCarryTheHeaderThatMakesThemTakeLong(t *testing.T) {
	t.Parallel()
	for place, work := range map[string]*targets.Work{
		"header": {Header: map[string]string{"X-Delay": "{{.Intent.Work}}"}},
		"body":   {Header: map[string]string{"X-Delay": "{{.Intent.Work}}"}, Body: map[string]any{"delay": "{{.Intent.Work}}"}},
	} {
		var lock sync.Mutex
		var said []string
		r := newRigFor(t, serve(t, func(_ http.ResponseWriter, r *http.Request) {
			lock.Lock()
			defer lock.Unlock()
			said = append(said, r.Header.Get("X-Delay"))
		}), scenarios.Scenario{
			Name: "long", Intents: 1, Concurrency: 1, Work: []faults.Duration{faults.Duration(time.Millisecond)},
			Steps: []scenarios.Step{{Tabs: []scenarios.Tab{{Count: 2}, {At: scenarios.Span{Fixed: 20 * time.Millisecond}}}}, send()},
		})
		r.Operations[0].Work = work
		h := r.drive(t)
		slices.Sort(said)
		if place == "body" {
			require.Equal(t, []string{"1", "1", "1", "1"}, said, "without the member it would be another body")
			continue
		}
		require.Equal(t, []string{"", "", "1", "1"}, said)
		for _, a := range h.Attempts {
			require.Equal(t, a.ID < "i001.3", a.Own["X-Delay"] == "1", "%s: what makes an attempt take long is its own", a.ID)
		}
		require.NotContains(t, h.Intents[0].Bodies[history.Original].Header, "X-Delay")
	}
}
