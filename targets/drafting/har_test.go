package drafting_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// recording is a HAR file of entries.
func recording(entries ...string) []byte {
	return fmt.Appendf(nil, "\ufeff"+`{"log": {"version": "1.2", "entries": [%s]}}`, strings.Join(entries, ","))
}

func sent(method, address, data string, status int) string {
	return fmt.Sprintf(`{"request": {"method": %q, "url": %q, "headers": [], "postData": %s}, "response": {"status": %d, "content": {"text": "{\"id\": \"o1\"}"}}}`, method, address, data, status)
}

const jsonData = `{"mimeType": "application/json", "text": "{\"note\": \"a b\", \"big\": 9007199254740993}"}`

func TestRecordedCreatesAreTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entry string
		found bool
	}{
		"a POST":                 {sent("POST", "http://h/orders", jsonData, 201), true},
		"a PUT":                  {sent("PUT", "http://h/orders/7", jsonData, 200), true},
		"a form":                 {sent("POST", "http://h/orders", `{"mimeType": "application/x-www-form-urlencoded", "text": "note=a+b&n=1"}`, 200), true},
		"the parts of a form":    {sent("POST", "http://h/orders", `{"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "note", "value": "a b"}]}`, 200), true},
		"a GET":                  {sent("GET", "http://h/orders", jsonData, 200), false},
		"refused":                {sent("POST", "http://h/orders", jsonData, 422), false},
		"blocked, so not sent":   {sent("POST", "http://h/orders", jsonData, 0), false},
		"without a body":         {sent("POST", "http://h/orders", "null", 200), false},
		"a list":                 {sent("POST", "http://h/orders", `{"mimeType": "application/json", "text": "[1]"}`, 200), false},
		"an upload":              {sent("POST", "http://h/orders", `{"mimeType": "multipart/form-data; boundary=x", "text": "a=1"}`, 200), false},
		"a page of the browser":  {sent("POST", "chrome-extension://x/orders", jsonData, 200), false},
		"a form with two values": {sent("POST", "http://h/orders", `{"mimeType": "application/x-www-form-urlencoded", "text": "a=1&a=2"}`, 200), false},
	} {
		all, err := drafting.ReadHAR(recording(c.entry))
		require.NoError(t, err, name)
		require.Equal(t, c.found, len(all) == 1, name)
	}
}

func TestRecordedRequestsHaveNames(t *testing.T) {
	t.Parallel()
	all, err := drafting.ReadHAR(recording(
		sent("POST", "http://h/v1/orders", jsonData, 201), sent("POST", "http://h/v2/orders?x=1", jsonData, 201),
		sent("POST", "http://h/v2/orders?x=2", jsonData, 201), sent("PUT", "http://h/v2/orders/17", jsonData, 200), sent("POST", "http://h/search", jsonData, 200),
	))
	require.NoError(t, err)
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	require.Equal(t, []string{"create_orders", "create_orders_2", "create_orders_3", "create_search"}, names, "each method and path once")
	require.False(t, all[3].LooksCreating())
	for _, path := range []string{"/orders/7/cancel", "/prices/calculate", "/api/events", "/track"} {
		others, err := drafting.ReadHAR(recording(sent("POST", "http://h"+path, jsonData, 200)))
		require.NoError(t, err)
		require.False(t, others[0].LooksCreating(), path)
	}
	d := all[0].Draft("API")
	require.Equal(t, "/id", d.Identity)
	require.Equal(t, []int{201}, d.Statuses)
	require.Equal(t, map[string]any{"note": "a b", "big": int64(9007199254740993)}, d.Body)
}

func TestFormsKeepTheirTexts(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl a/orders -d 'note=a+b%26c&amount=1200&card_number=4111&item[size]=L' -d idempotency_key=9`)
	require.NoError(t, err)
	require.True(t, c.Form)
	d := c.Draft("API")
	require.Equal(t, map[string]any{"note": "a b&c", "amount": "1200", "card_number": "4111", "item[size]": "L"}, d.Body)
	require.Equal(t, []drafting.Other{{Pointer: "/amount", Value: "1201"}}, d.Others)
	require.Equal(t, map[string]string{"/card_number": "${API_CARD_NUMBER}"}, d.Templates)
	require.Equal(t, targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "idempotency_key"}}, d.Key)
	require.Equal(t, "/note", d.Texts[0])
}

func FuzzReadHAR(f *testing.F) {
	f.Add(recording(sent("POST", "http://h/orders", jsonData, 201)))
	f.Add([]byte(`{"log": null}`))
	f.Add(recording(`{"request": {"method": "POST\nprocess: x", "url": "http://h/${HOME}/{{.Port}}/\u2028?${HOME}", "headers": [{"name": "X-${HOME}", "value": "${HOME}\u0085{{.X}}"}, {"name": "Cookie", "value": "${HOME}=1"}], "postData": {"mimeType": "application/json", "text": "{\"note\": \"${HOME}\\nprocess: x\", \"a\\u2028b\": \"{{.X}}\"}"}}, "response": {"status": 201}}`))
	f.Add(recording(
		`{"request": {"method": "GET", "url": "http://h/login"}, "response": {"status": 200, "headers": [{"name": "Set-Cookie", "value": "v=visitor-1"}], "content": {"text": "<input name=csrf value=12345678>"}}}`,
		`{"request": {"method": "POST", "url": "http://h/login", "headers": [{"name": "Cookie", "value": "v=visitor-1"}], "postData": {"text": "user=a&password=b&csrf=12345678"}}, "response": {"status": 302, "headers": [{"name": "Set-Cookie", "value": "s=session-1"}]}}`,
		`{"request": {"method": "POST", "url": "http://h/orders", "headers": [{"name": "Cookie", "value": "s=session-1; x"}], "postData": {"text": "note=a+b"}}, "response": {"status": 303}}`,
	))
	f.Add([]byte(`{"log": {"entries": [{"request": {"method": "PUT", "url": "http://h", "postData": {"params": [{}]}}, "response": {"status": 200}}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := drafting.ReadHAR(data)
		if err != nil {
			return
		}
		for _, r := range all {
			if file, err := (drafting.File{Target: "shop", BaseURL: "http://127.0.0.1:8080", Draft: r.Draft("API")}).Text(); err == nil {
				harmless(t, file)
			}
		}
	})
}
