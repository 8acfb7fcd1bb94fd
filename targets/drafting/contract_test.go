package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// An API that tells a repetition from a create by its status says so in its document, and keeps what it promises.
func TestDocumentedStatusesOfARepetition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		documented, again []int
	}{
		"created or found":         {[]int{200, 201, 409}, []int{200}},
		"reported already":         {[]int{201, 208}, []int{208}},
		"created":                  {[]int{201, 400}, nil},
		"no word of what it made":  {[]int{200, 422}, nil},
		"done later, or done":      {[]int{200, 202}, nil},
		"created, or nothing said": {[]int{201, 204}, nil},
	} {
		text, err := drafting.File{Target: "shop", Source: "a test", BaseURL: "http://localhost/", Draft: drafting.Draft{
			Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "a"}, Texts: []string{"/note"}, Statuses: c.documented,
			Key: targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key"}},
		}}.Text()
		require.NoError(t, err)
		target, err := targets.Load("shop.yaml", []byte(text), func(string) (string, bool) { return "", false })
		require.NoError(t, err, text)
		require.Equal(t, c.again, target.Contract.Replay.Status[201], "%s: %s", name, text)
	}
}
