package sinks_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const (
	marker    = "dtabcdefgh12345678"
	reference = "refabcdefgh87654321"
)

// record keeps what a sink takes down.
type record struct {
	mu  sync.Mutex
	all []history.Message
}

func (r *record) add(m history.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, m)
}

func (r *record) messages() []history.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]history.Message(nil), r.all...)
}

// payments opens a sink for payments that is watched.
func payments(t *testing.T, spec targets.HTTPSink, fault sinks.Fault) (string, *record, *sinks.Sinks) {
	t.Helper()
	if spec.Key.In == contract.KeyNowhere {
		spec.Key = targets.SinkKey{In: contract.KeyInHeader, Name: "Idempotency-Key"}
	}
	s, err := sinks.Open(t.Context(), map[string]targets.Sink{"payments": {HTTP: &spec}}, sinks.Protocols{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	r := &record{}
	require.NoError(t, s.Watch(t.Context(), sinks.Watch{Base: time.Now(), Record: r.add, Fault: fault, Hide: func(text string) string { return strings.ReplaceAll(text, "hush-hush", "***") }}))
	return s.Places()["payments"].URL, r, s
}

// post sends a request on a connection of its own.
func post(t *testing.T, to, kind, key string, body []byte) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", kind)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func zipped(text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write([]byte(text))
	w.Close()
	return out.Bytes()
}

func TestAMarkerIsFoundHoweverItIsEncoded(t *testing.T) {
	t.Parallel()
	escaped := ""
	percented := ""
	for _, c := range []byte(marker) {
		escaped += `\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15])
		percented += "%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789ABCDEF"[c&15])
	}
	secret := base64.StdEncoding.EncodeToString([]byte(`{"order":"` + marker + `"}`))
	for name, body := range map[string][]byte{
		"plain JSON":                   []byte(`{"metadata":{"order":"` + marker + `"}}`),
		"in the middle of a word":      []byte(`{"order":"shop-` + marker + `x"}`),
		"upper case":                   []byte(strings.ToUpper(marker)),
		"escapes of JSON":              []byte(`{"order":"` + escaped + `"}`),
		"JSON inside of JSON":          []byte(`{"payload":"{\"order\":\"` + marker + `\"}"}`),
		"a form":                       []byte("metadata%5Border%5D=" + marker),
		"percent-encoding":             []byte("a=" + percented),
		"base64":                       []byte(secret),
		"base64 for URLs":              []byte(base64.RawURLEncoding.EncodeToString([]byte("??>>" + marker + "??>>"))),
		"base64 inside of JSON":        []byte(`{"message":{"data":"` + secret + `"}}`),
		"gzip":                         zipped(`{"order":"` + marker + `"}`),
		"gzip inside of base64":        []byte(base64.StdEncoding.EncodeToString(zipped(marker))),
		"base64 that is percent-coded": []byte("data=" + url.QueryEscape(secret)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, r, _ := payments(t, targets.HTTPSink{}, sinks.Fault{})
			_, _, err := post(t, to+"/charges", "text/plain", "", body)
			require.NoError(t, err)
			require.Equal(t, []string{marker}, r.messages()[0].Names)
		})
	}
}

// TestProvidersAnswerAsTheyDo sends the calls of a client library, and reads the members that the provider's documentation lists.
func TestProvidersAnswerAsTheyDo(t *testing.T) {
	t.Parallel()
	const form, asJSON = "application/x-www-form-urlencoded", "application/json"
	for name, c := range map[string]struct {
		provider, path, kind, body string
		status                     int
		says                       string
	}{
		"a charge of Stripe": {
			"stripe", "/v1/charges", form, "amount=2000&currency=usd&source=tok_visa&metadata[order]=7", 200,
			`^\{"amount":2000,"amount_captured":2000,"amount_refunded":0,"captured":true,"currency":"usd","customer":null,"description":"","id":"ch_[a-z2-7]{16}","livemode":false,"metadata":\{"order":"7"\},"object":"charge","paid":true,"refunded":false,"status":"succeeded"\}$`,
		},
		"a payment intent of Stripe": {
			"stripe", "/v1/payment_intents", form, "amount=2000&currency=usd", 200,
			`^\{"amount":2000,"amount_received":0,"client_secret":"pi_\w+_secret_\w+","currency":"usd","customer":null,"id":"pi_[a-z2-7]{16}","livemode":false,"metadata":\{\},"object":"payment_intent","status":"requires_payment_method"\}$`,
		},
		"one that is confirmed at once": {"stripe", "/v1/payment_intents", form, "amount=2000&currency=usd&confirm=true", 200, `"amount_received":2000,.*"status":"succeeded"`},
		"one that is confirmed":         {"stripe", "/v1/payment_intents/pi_7/confirm", form, "", 200, `"id":"pi_7",.*"status":"succeeded"`},
		"a refund of Stripe":            {"stripe", "/v1/refunds", form, "charge=ch_7", 200, `"amount":null,"charge":"ch_7","id":"re_\w+",.*"status":"succeeded"`},
		"an order of PayPal": {
			"paypal", "/v2/checkout/orders", asJSON, `{"intent":"CAPTURE","purchase_units":[{"reference_id":"7","amount":{"currency_code":"USD","value":"20.00"}}]}`, 201,
			`"id":"(\w+)","intent":"CAPTURE","links":\[\{"href":"/v2/checkout/orders/\w+".*"rel":"approve".*"purchase_units":\[\{"amount":\{"currency_code":"USD","value":"20.00"\},"reference_id":"7"\}\],"status":"CREATED"`,
		},
		"a capture of PayPal":      {"paypal", "/v2/checkout/orders/5O19/capture", asJSON, `{}`, 201, `"id":"5O19","purchase_units":\[\{"payments":\{"captures":\[\{"final_capture":true,"id":"\w+","status":"COMPLETED"\}\]\}\}\],"status":"COMPLETED"`},
		"a refund of PayPal":       {"paypal", "/v2/payments/captures/2GG/refund", asJSON, `{}`, 201, `"status":"COMPLETED"`},
		"a sign-in at PayPal":      {"paypal", "/v1/oauth2/token", form, "grant_type=client_credentials", 200, `"access_token":"\w+".*"expires_in":32400.*"token_type":"Bearer"`},
		"a payment of Adyen":       {"adyen", "/v71/payments", asJSON, `{"reference":"7","amount":{"currency":"EUR","value":2000},"merchantAccount":"shop"}`, 200, `^\{"amount":\{"currency":"EUR","value":2000\},"merchantReference":"7","pspReference":"\w{16}","resultCode":"Authorised"\}$`},
		"a payment, live":          {"adyen", "/checkout/v68/payments", asJSON, `{"reference":"7"}`, 200, `"resultCode":"Authorised"`},
		"a refund of Adyen":        {"adyen", "/v71/payments/8816/refunds", asJSON, `{"reference":"7"}`, 201, `"paymentPspReference":"8816",.*"status":"received"`},
		"a call that is not known": {"adyen", "/v71/sessions", asJSON, `{}`, 404, "no answer of this sink fits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, err := targets.Load("shop.yaml", []byte(`name: shop
base_url: http://127.0.0.1:8080
sinks: {payments: {listen: 127.0.0.1:19090, http: {provider: `+c.provider+`}}}
operations: {create: {request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}}}
`), os.LookupEnv)
			require.NoError(t, err)
			to, r, _ := payments(t, *target.Sinks["payments"].HTTP, sinks.Fault{})
			send := func() (int, string) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to+c.path, strings.NewReader(c.body))
				require.NoError(t, err)
				req.Header.Set("Content-Type", c.kind)
				req.Header.Set(map[string]string{"stripe": "Idempotency-Key", "paypal": "PayPal-Request-Id", "adyen": "idempotency-key"}[c.provider], "k1")
				resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
				require.NoError(t, err)
				defer resp.Body.Close()
				text, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				return resp.StatusCode, string(text)
			}
			status, text := send()
			require.Equal(t, c.status, status)
			require.Regexp(t, c.says, text)
			_, again := send()
			if c.status < 400 {
				require.Equal(t, text, again)
				require.Equal(t, "payments-1", r.messages()[1].First)
			}
		})
	}
	require.Equal(t, []string{"adyen", "paypal", "stripe"}, targets.Providers())
}

func TestADeclaredFieldIsTakenDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		where            targets.SinkKey
		path, kind, body string
		says             string
	}{
		"a header":                   {targets.SinkKey{In: contract.KeyInHeader, Name: "idempotency-key"}, "/", "text/plain", "", "ord_1"},
		"a parameter":                {targets.SinkKey{In: contract.KeyInQuery, Name: "order"}, "/?order=ord%5F1", "text/plain", "", "ord_1"},
		"the path":                   {targets.SinkKey{In: contract.KeyInPath, Name: "/orders/*/capture"}, "/orders/ord%5F1/capture", "text/plain", "", "ord_1"},
		"another path":               {targets.SinkKey{In: contract.KeyInPath, Name: "/orders/*/capture"}, "/orders/ord_1/refund", "text/plain", "", ""},
		"a member":                   {targets.SinkKey{In: contract.KeyInBody, Name: "order"}, "/", "application/json", `{"order":"ord_1"}`, "ord_1"},
		"a member inside of another": {targets.SinkKey{In: contract.KeyInBody, Name: "/metadata/order"}, "/", "application/json", `{"metadata":{"order":"ord_1"}}`, "ord_1"},
		"a long number":              {targets.SinkKey{In: contract.KeyInBody, Name: "/order"}, "/", "application/json", `{"order":1234567890123456789}`, "1234567890123456789"},
		"a list":                     {targets.SinkKey{In: contract.KeyInBody, Name: "/order"}, "/", "application/json", `{"order":["ord_1"]}`, ""},
		"a form":                     {targets.SinkKey{In: contract.KeyInBody, Name: "/metadata/order"}, "/", "application/x-www-form-urlencoded", "metadata%5Border%5D=ord_1&metadata[]=x", "ord_1"},
		"the name in a form":         {targets.SinkKey{In: contract.KeyInBody, Name: "metadata[order]"}, "/", "application/x-www-form-urlencoded", "metadata[order]=ord_1", "ord_1"},
		"a form with one name twice": {targets.SinkKey{In: contract.KeyInBody, Name: "/metadata/order"}, "/", "application/x-www-form-urlencoded", "metadata=x&metadata[order]=ord_1", ""},
		"nothing is declared":        {targets.SinkKey{}, "/", "application/json", `{"order":"ord_1"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, r, _ := payments(t, targets.HTTPSink{Intent: c.where}, sinks.Fault{})
			_, _, err := post(t, to+c.path, c.kind, "ord_1", []byte(c.body))
			require.NoError(t, err)
			require.Equal(t, c.says, r.messages()[0].Intent)
		})
	}
}

func TestALongBase64HidesNoMarker(t *testing.T) {
	t.Parallel()
	to, r, _ := payments(t, targets.HTTPSink{}, sinks.Fault{})
	random := make([]byte, 120_000)
	rand.NewChaCha8([32]byte{7}).Read(random)
	_, _, err := post(t, to, "application/json", "", []byte(`{"picture":"`+base64.StdEncoding.EncodeToString(random)+`","order":"`+marker+`"}`))
	require.NoError(t, err)
	require.Contains(t, r.messages()[0].Names, marker)
	require.Less(t, len(r.messages()[0].Names), 3)
}

func TestAMarkerIsFoundInThePathAndInHeaders(t *testing.T) {
	t.Parallel()
	to, r, _ := payments(t, targets.HTTPSink{}, sinks.Fault{})
	_, _, err := post(t, to+"/orders/"+marker+"?ref="+reference, "text/plain", "", nil)
	require.NoError(t, err)
	_, _, err = post(t, to, "text/plain", "order-"+marker, []byte("dtabc"))
	require.NoError(t, err)
	got := r.messages()
	require.Equal(t, []string{marker, reference}, got[0].Names)
	require.Equal(t, []string{marker}, got[1].Names)
	require.Equal(t, "order-"+marker, got[1].Key)
	require.Equal(t, "payments-2", got[1].ID)
	require.Greater(t, got[1].At, got[0].At)
}

func TestARequestHasTheTraceThatItIsOf(t *testing.T) {
	t.Parallel()
	to, r, _ := payments(t, targets.HTTPSink{}, sinks.Fault{})
	for _, parent := range []string{"00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0af7-b7ad6b7169203331-01", "nonsense", ""} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, nil)
		require.NoError(t, err)
		req.Header.Set("Traceparent", parent)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	got := r.messages()
	require.Equal(t, []string{"0af7651916cd43dd8448eb211c80319c"}, got[0].Traces)
	for _, m := range got[1:] {
		require.Empty(t, m.Traces)
	}
}

func TestAnswersAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	to, r, _ := payments(t, targets.HTTPSink{Answers: []targets.SinkAnswer{
		{Method: "POST", Path: "/orders/*/capture", Status: 201, Header: map[string]string{"X-Path": "{{.Path}}"}, Body: map[string]any{
			"id": "ch_{{.ID}}", "key": "{{.Key}}", "amount": `{{.Body "/amount" | json}}`, "note": `{{.Body "/nope"}}`, "list": []any{1, true},
		}},
		{Path: "/declined", Status: 402, Body: map[string]any{"error": "declined"}},
	}}, sinks.Fault{})
	status, text, err := post(t, to+"/orders/7/capture", "application/json", "k1", []byte(`{"amount":1200}`))
	require.NoError(t, err)
	require.Equal(t, 201, status)
	require.Regexp(t, `^\{"amount":1200,"id":"ch_[a-z2-7]{16}","key":"k1","list":\[1,true\],"note":""\}$`, text)
	_, text, err = post(t, to+"/orders/7/capture", "application/x-www-form-urlencoded", "", []byte(`amount=900`))
	require.NoError(t, err)
	require.Contains(t, text, `"amount":900`)
	status, _, err = post(t, to+"/declined", "application/json", "", nil)
	require.NoError(t, err)
	require.Equal(t, 402, status)
	status, text, err = post(t, to+"/elsewhere", "application/json", "", nil)
	require.NoError(t, err)
	require.Equal(t, 404, status)
	require.Contains(t, text, "POST /elsewhere")
	var acted []bool
	for _, m := range r.messages() {
		acted = append(acted, m.Acted)
	}
	require.Equal(t, []bool{true, true, false, false}, acted)
}

func TestAnIdempotentSinkActsOnceForAKey(t *testing.T) {
	t.Parallel()
	to, r, _ := payments(t, targets.HTTPSink{Idempotent: true, Key: targets.SinkKey{In: contract.KeyInBody, Name: "/request/id"}}, sinks.Fault{})
	var all sync.WaitGroup
	answers := make([]string, 8)
	for i := range answers {
		all.Go(func() {
			_, answers[i], _ = post(t, to+"/charges", "application/json", "", []byte(`{"request":{"id":7}}`))
		})
	}
	all.Wait()
	_, other, err := post(t, to+"/charges", "application/json", "", []byte(`{"request":{"id":8}}`))
	require.NoError(t, err)
	acted := 0
	for _, m := range r.messages() {
		if m.First == "" {
			acted++
		} else {
			require.Equal(t, "payments-1", m.First)
		}
	}
	require.Equal(t, 2, acted)
	for _, text := range answers {
		require.Equal(t, answers[0], text)
	}
	require.NotEqual(t, answers[0], other)
}

func TestAFaultHitsTheFirstMessageOfEachIntent(t *testing.T) {
	t.Parallel()
	body, other := []byte(`{"order":"`+marker+`"}`), []byte(`{"order":"dt0000000000000000"}`)
	t.Run("lost", func(t *testing.T) {
		t.Parallel()
		to, r, _ := payments(t, targets.HTTPSink{Idempotent: true}, sinks.Fault{Kind: sinks.Lost})
		_, _, err := post(t, to, "application/json", "k1", body)
		require.ErrorIs(t, err, io.EOF)
		status, _, err := post(t, to, "application/json", "k1", body)
		require.NoError(t, err)
		require.Equal(t, 200, status)
		_, _, err = post(t, to, "application/json", "k2", other)
		require.ErrorIs(t, err, io.EOF)
		got := r.messages()
		require.Equal(t, []string{"lost", "", "lost"}, []string{got[0].Fault, got[1].Fault, got[2].Fault})
		require.True(t, got[0].Acted)
		require.Zero(t, got[0].Status)
		require.Equal(t, "payments-1", got[1].First, "it had acted, though nobody heard of it")
	})
	t.Run("error", func(t *testing.T) {
		t.Parallel()
		to, r, _ := payments(t, targets.HTTPSink{}, sinks.Fault{Kind: sinks.Error})
		status, _, err := post(t, to, "application/json", "", body)
		require.NoError(t, err)
		require.Equal(t, 500, status)
		require.True(t, r.messages()[0].Acted)
	})
	t.Run("late", func(t *testing.T) {
		t.Parallel()
		to, r, s := payments(t, targets.HTTPSink{}, sinks.Fault{Kind: sinks.Late, For: time.Hour})
		done := make(chan error, 1)
		go func() { _, _, err := post(t, to, "application/json", "", body); done <- err }()
		require.Eventually(t, func() bool { return len(r.messages()) == 1 }, time.Minute, time.Millisecond, "it is on record before it is answered")
		require.NoError(t, s.Close())
		<-done
	})
}

func TestAFaultHitsTheFirstMessageWithEachDeclaredField(t *testing.T) {
	t.Parallel()
	to, r, _ := payments(t, targets.HTTPSink{Intent: targets.SinkKey{In: contract.KeyInBody, Name: "order"}}, sinks.Fault{Kind: sinks.Error})
	for _, order := range []string{"ord_1", "ord_1", "ord_2"} {
		_, _, err := post(t, to, "application/json", "", []byte(`{"order":"`+order+`"}`))
		require.NoError(t, err)
	}
	got := r.messages()
	require.Equal(t, []string{"error", "", "error"}, []string{got[0].Fault, got[1].Fault, got[2].Fault})
}

func TestWhatIsNoRequestIsTakenDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ send, says string }{
		"garbage": {"EHLO shop\r\n\r\n", "no HTTP request"},
		"TLS":     {"\x16\x03\x01\x02\x00", "http://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, r, _ := payments(t, targets.HTTPSink{}, sinks.Fault{})
			conn, err := net.Dial("tcp", strings.TrimPrefix(to, "http://"))
			require.NoError(t, err)
			_, err = conn.Write([]byte(c.send))
			require.NoError(t, err)
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
			require.Eventually(t, func() bool { return len(r.messages()) == 1 }, time.Minute, time.Millisecond)
			require.Contains(t, r.messages()[0].Error, c.says)
		})
	}
}

func TestAHugeBodyIsBounded(t *testing.T) {
	t.Parallel()
	to, r, _ := payments(t, targets.HTTPSink{}, sinks.Fault{})
	body := append([]byte(marker+" hush-hush "), bytes.Repeat([]byte("x "), 3<<20)...)
	status, _, err := post(t, to, "text/plain", "", body)
	require.NoError(t, err)
	require.Equal(t, 200, status)
	got := r.messages()[0]
	require.Equal(t, []string{marker}, got.Names)
	require.Equal(t, int64(len(body)), got.Length)
	require.LessOrEqual(t, len(got.Content), 2<<10)
	require.Contains(t, got.Content, "***")
	require.Contains(t, got.Error, "were looked at")
}

func TestAPortThatIsTakenIsSaid(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = sinks.Open(t.Context(), map[string]targets.Sink{"a": {HTTP: &targets.HTTPSink{}}, "payments": {Listen: taken.Addr().String(), HTTP: &targets.HTTPSink{}}}, sinks.Protocols{})
	require.ErrorContains(t, err, "sinks.payments: listen tcp "+taken.Addr().String())
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}

func TestAProgramMaySpeakHTTPOnly(t *testing.T) {
	t.Parallel()
	for _, spec := range []targets.Sink{{SMTP: &targets.SMTPSink{}}, {OTLP: &targets.OTLPSink{}}} {
		_, err := sinks.Open(t.Context(), map[string]targets.Sink{"payments": {HTTP: &targets.HTTPSink{}}, "two": spec}, sinks.Protocols{})
		require.ErrorIs(t, err, sinks.ErrNoProtocol)
		require.ErrorContains(t, err, "sinks.two")
	}
}

func TestNothingIsTakenDownOutsideOfAWatch(t *testing.T) {
	t.Parallel()
	to, r, s := payments(t, targets.HTTPSink{}, sinks.Fault{})
	require.Empty(t, s.Unwatch())
	status, _, err := post(t, to, "text/plain", "", []byte(marker))
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.Empty(t, r.messages())
	require.NoError(t, s.Watch(t.Context(), sinks.Watch{Base: time.Now(), Record: r.add, Hide: func(text string) string { return text }}))
	_, _, err = post(t, to, "text/plain", "", []byte(marker))
	require.NoError(t, err)
	require.Equal(t, "payments-1", s.Messages()[0].ID)
}
