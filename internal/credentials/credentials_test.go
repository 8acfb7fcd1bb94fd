package credentials_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/credentials"
)

func TestCredentialsAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`/v1/charges?api_key=hush&order=7&Access-Token=hush`:          `/v1/charges?api_key=HUSH&order=7&Access-Token=HUSH`,
		`{"client_secret": "hush \"hush&hush", "amount": 5}`:          `{"client_secret": "HUSH \"HUSH&HUSH", "amount": 5}`,
		`password=hush&source[card]=hush&amount=5`:                    `password=HUSH&source[card]=HUSH&amount=5`,
		`<a href='/reset?token=hush'>hush</a>`:                        `<a href='/reset?token=HUSH'>hush</a>`,
		`{"token_type":"bearer","access_token":"hush","secret":7}`:    `{"token_type":"bearer","access_token":"HUSH","secret":7}`,
		`{"token":"","private_key":"hush","cards":[{"card":"hush"}]}`: `{"token":"","private_key":"HUSH","cards":[{"card":"HUSH"}]}`,
		`/tokens/7?q=token`: `/tokens/7?q=token`,
	} {
		require.Equal(t, want, credentials.Mask(said, strings.ToUpper))
	}
}

func BenchmarkAnAnswerWithoutACredential(b *testing.B) {
	text := `{"id":"ord_bq3loqabykulxzr4j6xdqqo6dz","idempotency_key":"8be0c3","token_type":"none","item":"lamp","created_at":"2026-11-27T17:22:53.918142852Z"}`
	for b.Loop() {
		credentials.Mask(text, strings.ToUpper)
	}
}

func BenchmarkAnAnswerWithACredential(b *testing.B) {
	text := `{"id":"ord_bq3loqabykulxzr4j6xdqqo6dz","idempotency_key":"8be0c3","token":"none","item":"lamp","created_at":"2026-11-27T17:22:53.918142852Z"}`
	for b.Loop() {
		credentials.Mask(text, strings.ToUpper)
	}
}
