package curl_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/export/curl"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

const several = `name: several
summary: Whatever changes what is signed.
intents: 1
lanes: {}
steps:
  - send: {retry: {max: 1, backoff: 1ms, on: ["503"], key: fresh}}
  - burst: {copies: 3}
  - alter: {}
  - burst: {copies: 2, altered: 1}
exercised: [acknowledged]
`

// scriptOf is a script for requests of an operation.
func scriptOf(t *testing.T, base string, o targets.Operation) curl.Script {
	t.Helper()
	s, err := scenarios.Load("s.yaml", []byte(several))
	require.NoError(t, err)
	plan := scenarios.NewPlan(s, 1)
	d := driver.Workload{
		Target: targets.Target{BaseURL: base}, Operations: []driver.Operation{{Name: operation, Operation: o}},
		Plan: plan, Names: driver.Names{Seed: 1, Run: "run", Scenario: s.Name}, Base: time.Now(),
	}
	requests, err := d.Rehearse()
	require.NoError(t, err)
	return curl.Script{
		Title: "duplicate", Origin: "found", Base: base, Plan: plan, Requests: requests, Lanes: s.Lanes, Normal: 20 * time.Millisecond,
		Variables: map[string]string{"stands-for-SIGNER": "SIGNER"}, Rows: map[string]string{operation: "select 1 where note = :marker"},
	}
}

// arrival is what a server has read of a request.
type arrival struct {
	uri, contentType, signature, time string
	body                              []byte
	form                              map[string][]string
	photo                             string
}

func TestFormsAndPathKeysAndSignaturesArriveAsTheDriverSendsThem(t *testing.T) {
	t.Parallel()
	sum := func(parts ...string) []byte {
		mac := hmac.New(sha256.New, []byte("sesame $HOME"))
		_, _ = io.WriteString(mac, strings.Join(parts, ""))
		return mac.Sum(nil)
	}
	packed := "bytes_" + strings.TrimRight(base64.StdEncoding.EncodeToString([]byte("sesame $HOME")), "=")
	photo := map[string]any{"file": `p "1".png`, "type": "image/png", "content": "line\nEND\nit's `id` $HOME \\\r\n"}
	for name, c := range map[string]struct {
		request targets.Request
		signed  func(a arrival) string
		secret  string
		inBody  bool // the key
	}{
		"a form with the key in it, signed in base64": {
			targets.Request{Path: "/api/orders?q=1", Form: map[string]any{"note": "{{.Intent.Marker}}", "text": awkward, "mail": `{{unique "email"}}`}},
			func(a arrival) string {
				return "v1," + base64.StdEncoding.EncodeToString(sum(a.time, ".POST.", a.uri, ".", string(a.body)))
			}, "stands-for-SIGNER", true,
		},
		"a form, signed in base64": {
			targets.Request{Path: "/api/{{.Key}}/orders?q=1", Form: map[string]any{"note": "{{.Intent.Marker}}", "text": awkward, "mail": `{{unique "email"}}`, "day": "{{now}}"}},
			func(a arrival) string {
				return "v1," + base64.StdEncoding.EncodeToString(sum(a.time, ".POST.", a.uri, ".", string(a.body)))
			}, "stands-for-SIGNER", false,
		},
		"a form with a file, signed in hexadecimal": {
			targets.Request{Path: "/api/{{.Key}}/orders?q=1", Multipart: map[string]any{"note": "{{.Intent.Marker}}", "text": awkward, "mail": `{{unique "email"}}`, "photo": photo}},
			func(a arrival) string {
				return "v1," + hex.EncodeToString(sum(a.time, ".POST.", a.uri, ".", string(a.body)))
			}, "sesame $HOME", false,
		},
		"a form, signed by bytes, with the time in front in milliseconds": {
			targets.Request{Path: "/api/{{.Key}}/orders?q=1", Form: map[string]any{"note": "{{.Intent.Marker}}", "text": awkward, "mail": `{{unique "email"}}`}},
			func(a arrival) string {
				return "t=" + a.time + ",v1=" + base64.StdEncoding.EncodeToString(sum(a.time, ".POST.", a.uri, ".", string(a.body)))
			}, packed, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var all []arrival
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				a := arrival{uri: r.RequestURI, contentType: r.Header.Get("Content-Type"), signature: r.Header.Get("X-Sig"), time: r.Header.Get("X-Time")}
				a.body, _ = io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(a.body))
				if err := r.ParseMultipartForm(1 << 20); err == nil {
					file, _, _ := r.FormFile("photo")
					content, _ := io.ReadAll(file)
					a.photo = string(content)
				}
				a.form = r.PostForm
				mu.Lock()
				defer mu.Unlock()
				if all = append(all, a); len(all) == 1 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}))
			t.Cleanup(server.Close)
			encoding := targets.EncodingBase64
			if strings.Contains(name, "hexa") {
				encoding = targets.EncodingHex
			}
			c.request.Sign = &targets.Sign{
				Header: "X-Sig", HMAC: targets.HashSHA256, Secret: c.secret, Prefix: "v1,", Encoding: encoding,
				Over: "{{.Time}}.{{.Method}}.{{.Path}}.{{.Body}}", Time: &targets.SignTime{Header: "X-Time"},
			}
			secret := "sesame $HOME"
			if c.secret == packed {
				c.request.Sign.Written, c.request.Sign.Prefix, secret = targets.EncodingBase64, "t={{.Time}},v1=", packed
				c.request.Sign.Time.Unit = targets.UnitMillis
			}
			o := targets.Operation{Request: c.request, Key: targets.Key{Key: contract.Key{In: contract.KeyInPath, Required: true}}, Alter: map[string]any{"text": "another"}}
			if c.inBody {
				o.Key = targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "token", Required: true}}
			}
			s := scriptOf(t, server.URL, o)
			file := write(t, s)
			script, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NotContains(t, string(script), "sesame", "a secret stays in the environment")
			require.NotContains(t, string(script), packed, "a secret stays in the environment")
			for range 2 {
				command := exec.CommandContext(t.Context(), "bash", file)
				command.Env = append(os.Environ(), "SIGNER="+secret, "SIGNING_SECRET="+secret)
				out, err := command.CombinedOutput()
				require.Error(t, err)
				require.Equal(t, 2, command.ProcessState.ExitCode(), "%s", out)
			}
			const each = 2 + 3 + 1 + 2
			require.Len(t, all, 2*each-1)
			markers, keys, mails := map[string]int{}, map[string]int{}, map[string]int{}
			for _, a := range all {
				require.Equal(t, c.signed(a), a.signature, "%s", a.body)
				require.Equal(t, c.secret == packed, len(a.time) == 13, "%s is in milliseconds", a.time)
				key := strings.Join(a.form["token"], "")
				if !c.inBody {
					key = strings.TrimSuffix(strings.TrimPrefix(a.uri, "/api/"), "/orders?q=1")
				}
				require.Regexp(t, "^[0-9a-f-]{36}$", key)
				keys[key]++
				markers[a.form["note"][0]]++
				mails[a.form["mail"][0]]++
				require.Contains(t, []string{awkward, "another"}, a.form["text"][0])
				if c.request.Multipart != nil {
					require.Equal(t, photo["content"], a.photo)
				}
				for _, r := range s.Requests {
					require.Equal(t, r.Header["Content-Type"], a.contentType)
				}
			}
			require.Len(t, keys, 3, "one for each run, and that of the retry")
			require.Len(t, markers, 4, "of two bodies in two runs")
			require.Len(t, mails, 2, "one for each run")
		})
	}
}

func TestAMarkerThatIsANumberIsDrawnAsOne(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	amounts := map[int64]int{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct{ In struct{ Amount int64 } }
		if json.NewDecoder(r.Body).Decode(&body) == nil {
			mu.Lock()
			amounts[body.In.Amount]++
			mu.Unlock()
		}
	}))
	t.Cleanup(server.Close)
	s := scriptOf(t, server.URL, targets.Operation{
		Marker:  targets.NumberMarker,
		Request: targets.Request{Method: http.MethodPost, Path: "/", Body: map[string]any{"in": map[string]any{"amount": "{{.Intent.Marker | json}}", "of": 1}}},
		Alter:   map[string]any{"in": map[string]any{"of": 2}},
		Key:     targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "/in/key"}},
	})
	s.Rows = nil
	out, _ := exec.Command("bash", write(t, s)).CombinedOutput() // what it says of what it saw is not looked at
	require.Len(t, amounts, 2, "the amounts of two bodies\n%s", out)
	for amount := range amounts {
		require.GreaterOrEqual(t, amount, int64(111_111_111))
		require.LessOrEqual(t, amount, int64(999_999_999))
	}
}
