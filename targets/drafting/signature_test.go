package drafting

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatSignsARequest holds which headers are read as signatures, and as which: the recorded value is that of the recorded body only.
func TestWhatSignsARequest(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("ab", 32)
	const packed = "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="
	for name, c := range map[string]struct {
		headers string
		sign    string
		left    []string
	}{
		"time and version in one header": {
			"-H 'Pay-Signature: t=1767000000,v1=" + sum + "'",
			`{header: Pay-Signature, hmac: sha256, over: "{{.Time}}.{{.Body}}", prefix: "t={{.Time}},v1=", secret: "${API_SIGNING_SECRET}"}`, nil,
		},
		"another version behind it": {
			"-H 'Pay-Signature: t=1767000000,v1=" + sum + ",v0=" + sum + "'",
			`{header: Pay-Signature, hmac: sha256, over: "{{.Time}}.{{.Body}}", prefix: "t={{.Time}},v1=", secret: "${API_SIGNING_SECRET}"}`, nil,
		},
		"the body": {
			"-H 'X-Hub-Signature: sha1=" + sum[:40] + "' -H 'X-Room: 7'",
			`{header: X-Hub-Signature, hmac: sha1, over: "{{.Body}}", prefix: sha1=, secret: "${API_SIGNING_SECRET}"}`, []string{"X-Room"},
		},
		"base64, and no prefix": {
			"-H 'X-Hmac: " + packed + "'",
			`{encoding: base64, header: X-Hmac, hmac: sha256, over: "{{.Body}}", secret: "${API_SIGNING_SECRET}"}`, nil,
		},
		"a time in another header": {
			"-H 'X-Request-Timestamp: 1767000000' -H 'X-Signature: v0=" + sum + "'",
			`{header: X-Signature, hmac: sha256, over: "v0:{{.Time}}:{{.Body}}", prefix: v0=, secret: "${API_SIGNING_SECRET}", time: {header: X-Request-Timestamp}}`, nil,
		},
		"an id that is signed, too": {
			"-H 'webhook-id: msg_1' -H 'webhook-timestamp: 1767000000' -H 'webhook-signature: v1," + packed + "'",
			`{encoding: base64, header: webhook-signature, hmac: sha256, over: "{{.Key}}.{{.Time}}.{{.Body}}", prefix: "v1,", secret: "${API_SIGNING_SECRET}", secret_encoding: base64, time: {header: webhook-timestamp}}`, nil,
		},
		"milliseconds, which nobody can say": {"-H 'X-Signature: t=1767000000000,v1=" + sum + "'", "", []string{"X-Signature"}},
		"a word":                             {"-H 'X-Signature: sesame'", "", []string{"X-Signature"}},
		"a token":                            {"-H 'X-Trace: " + sum + "'", "", []string{"X-Trace"}},
		"what the shell puts in":             {`-H "X-Signature: $SIGNATURE"`, "", []string{"X-Signature"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := ReadCurl("curl http://localhost/hooks -H 'Content-Type: application/json' " + c.headers + ` -d '{"note": "x"}'`)
			require.NoError(t, err)
			d := r.Draft("API")
			var left []string
			for header := range d.Header {
				left = append(left, header)
			}
			require.Equal(t, c.left, left)
			if c.sign == "" {
				require.Nil(t, d.Sign)
				return
			}
			require.NotNil(t, d.Sign)
			require.Equal(t, c.sign, flow(signing(*d.Sign)))
			require.Contains(t, d.Needed, "API_SIGNING_SECRET")
			require.NotContains(t, strings.Join(d.Doubts, " "), sum[:20], "a recorded signature is written nowhere")
			require.Equal(t, strings.Contains(c.headers, "webhook-id"), d.Keyed())
		})
	}
}

// TestWhatSignsARequestWithoutABody holds that its path is what is signed.
func TestWhatSignsARequestWithoutABody(t *testing.T) {
	t.Parallel()
	r, err := ReadCurl("curl -X POST 'http://localhost/hooks?note=x' -H 'X-Signature: t=1767000000,v1=" + strings.Repeat("ab", 32) + "'")
	require.NoError(t, err)
	require.Equal(t, "{{.Time}}.{{.Path}}", r.Draft("API").Sign.Over)
}
