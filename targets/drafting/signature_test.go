package drafting

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
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
		"milliseconds": {
			"-H 'X-Signature: t=1767000000000,v1=" + sum + "'",
			`{header: X-Signature, hmac: sha256, over: "{{.Time}}.{{.Body}}", prefix: "t={{.Time}},v1=", secret: "${API_SIGNING_SECRET}", time: {unit: ms}}`, nil,
		},
		"milliseconds in another header": {
			"-H 'X-Timestamp: 1767000000000' -H 'X-Signature: " + sum + "'",
			`{header: X-Signature, hmac: sha256, over: "{{.Time}}.{{.Body}}", secret: "${API_SIGNING_SECRET}", time: {header: X-Timestamp, unit: ms}}`, nil,
		},
		"a word":                 {"-H 'X-Signature: sesame'", "", []string{"X-Signature"}},
		"a token":                {"-H 'X-Trace: " + sum + "'", "", []string{"X-Trace"}},
		"what the shell puts in": {`-H "X-Signature: $SIGNATURE"`, "", []string{"X-Signature"}},
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
			require.Equal(t, c.sign, flow(signing(d.Sign.Sign)))
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

// TestTheRecordedSignatureTellsWhatIsSigned holds that what is signed is found out with the secret, whatever is signed in which order.
func TestTheRecordedSignatureTellsWhatIsSigned(t *testing.T) {
	t.Parallel()
	const body, stamp, key = `{"note": "x"}`, "1767000000", "dlv_77"
	bytes := []byte("twenty-four bytes of key")
	for name, c := range map[string]struct {
		signed, secret string
		with           []byte // nil: the text of the secret
		header         string
		over, written  string
	}{
		"the usual":                 {stamp + "." + body, "sesame", nil, "t=" + stamp + ",v1=%s", "{{.Time}}.{{.Body}}", ""},
		"the body alone":            {body, "sesame", nil, "t=" + stamp + ",v1=%s", "{{.Body}}", ""},
		"the time behind":           {body + stamp, "sesame", nil, "t=" + stamp + ",v1=%s", "{{.Body}}{{.Time}}", ""},
		"method and path":           {stamp + "POST/hooks?shop=7" + body, "sesame", nil, "t=" + stamp + ",v1=%s", "{{.Time}}{{.Method}}{{.Path}}{{.Body}}", ""},
		"lines":                     {"POST\n/hooks?shop=7\n" + stamp + "\n" + body, "sesame", nil, "t=" + stamp + ",v1=%s", "{{.Method}}\n{{.Path}}\n{{.Time}}\n{{.Body}}", ""},
		"the key, too":              {key + ":" + stamp + ":" + body, "sesame", nil, "t=" + stamp + ",v1=%s", "{{.Key}}:{{.Time}}:{{.Body}}", ""},
		"the version":               {"v1:" + stamp + ":" + body, "sesame", nil, "t=" + stamp + ",v1=%s", "v1:{{.Time}}:{{.Body}}", ""},
		"a secret in base64":        {stamp + "." + body, "whsec_" + base64.StdEncoding.EncodeToString(bytes), bytes, "t=" + stamp + ",v1=%s", "{{.Time}}.{{.Body}}", "base64"},
		"a secret in hex":           {body, hex.EncodeToString(bytes), bytes, "sha256=%s", "{{.Body}}", "hex"},
		"another secret":            {body, "sesame", []byte("simsim"), "sha256=%s", "", ""},
		"something that is no part": {body + "pepper", "sesame", nil, "sha256=%s", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := c.with
			if with == nil {
				with = []byte(c.secret)
			}
			mac := hmac.New(sha256.New, with)
			mac.Write([]byte(c.signed))
			value := fmt.Sprintf(c.header, hex.EncodeToString(mac.Sum(nil)))
			r, err := ReadCurl("curl 'http://localhost/hooks?shop=7' -H 'Content-Type: application/json' -H 'Idempotency-Key: " + key + "' -H 'X-Signature: " + value + "' -d '" + body + "'")
			require.NoError(t, err)
			d := r.Draft("API")
			require.Equal(t, c.over != "", ProveSignature(&d, c.secret))
			if c.over == "" {
				require.Contains(t, strings.Join(d.Doubts, " "), "no order of body, path, method, time and key gives the recorded one")
				require.Equal(t, usualOverOf(c.header), d.Sign.Over, "the guess stays")
				return
			}
			require.Equal(t, c.over, d.Sign.Over)
			require.Equal(t, c.written, string(d.Sign.Written))
			require.NotContains(t, strings.Join(d.Doubts, " "), "X-Signature", "it is known")
		})
	}
}

// usualOverOf is what is signed in most cases where a header is written so.
func usualOverOf(header string) string {
	if strings.HasPrefix(header, "t=") {
		return "{{.Time}}.{{.Body}}"
	}
	return "{{.Body}}"
}

// TestALongBodyIsNotSignedInEveryOrder holds that to find out what is signed takes no longer where the recorded body is long: the usual texts are
// tried, and the guess stays where none of them is it.
func TestALongBodyIsNotSignedInEveryOrder(t *testing.T) {
	t.Parallel()
	const stamp = "1767000000"
	body := `{"note": "` + strings.Repeat("x", 1<<19) + `"}`
	for name, c := range map[string]struct{ with, over string }{
		"the secret":     {"c2VzYW1l", "{{.Body}}{{.Time}}"},
		"another secret": {"simsim", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mac := hmac.New(sha256.New, []byte(c.with))
			mac.Write([]byte(body + stamp))
			r, err := ReadCurl("curl 'http://localhost/hooks?shop=7' -H 'Content-Type: application/json' -H 'Idempotency-Key: k' -H 'X-Signature: t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil)) + "' -d '" + body + "'")
			require.NoError(t, err)
			d := r.Draft("API")
			require.Equal(t, c.over != "", ProveSignature(&d, "c2VzYW1l"))
			if c.over != "" {
				require.Equal(t, c.over, d.Sign.Over)
				return
			}
			require.Contains(t, strings.Join(d.Doubts, " "), "What X-Signature signs, and how", "not all was tried")
		})
	}
}
