package driver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

func TestARequestWithoutTheCredentialLacksNothingElse(t *testing.T) {
	t.Parallel()
	seen := make(chan http.Header, 3)
	address := serve(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header })
	r := newRig(t, address, send(), respelled(scenarios.SpellingNoCredential), send())
	r.Operations[0].Request.Sign = &targets.Sign{Header: "X-Signature", HMAC: targets.HashSHA256, Secret: "s", Over: "{{.Body}}", Encoding: targets.EncodingHex}
	r.Operations[0].Request.Credential = []string{"authorization", "X-Signature"}
	h := r.drive(t)
	first, without, third := <-seen, <-seen, <-seen
	for _, name := range []string{"Authorization", "X-Signature"} {
		require.NotEmpty(t, first.Get(name), name)
		require.Empty(t, without.Values(name), name)
		require.Equal(t, first.Get(name), third.Get(name), name)
		first.Del(name)
	}
	require.Equal(t, first, without)
	require.NotContains(t, h.Intents[0].Bodies["no-credential"].Header, "Authorization")
	require.Contains(t, h.Intents[0].Bodies["original"].Header, "Authorization")
}
