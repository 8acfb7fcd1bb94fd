package targets_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
)

// TestANaturalKeyThatCanBeSpelledOtherwise holds which requests name the same thing in another spelling: those whose natural key, as it is sent,
// has a letter, and whose rows are not found by it.
func TestANaturalKeyThatCanBeSpelledOtherwise(t *testing.T) {
	t.Parallel()
	for email, renames := range map[string]bool{
		`{{unique "email"}}`:                   true,
		`{{unique "text"}}`:                    true,
		`{{fake "email"}}`:                     true,
		`{{.Intent.Reference}}`:                true,
		`{{.Intent.Number}}@example.com`:       true,
		`{{.Intent.Number}}`:                   false,
		`{{unique "number"}}`:                  false,
		`{{.Intent.Marker}}`:                   false, // the row query goes by it
		`{{.Intent.Marker}}@shop.example.com`:  false,
		`{{unique "number" | json}}`:           false, // no text
		`{{.Principal.name}}-{{.Intent.Work}}`: false, // cannot be said beforehand
	} {
		target, err := targets.Load("users.yaml", fmt.Appendf(nil, `
name: users
base_url: http://localhost:8080
database: {url: "sqlite://users.db"}
contract: {natural_key: [/email], natural_key_ignores: [case]}
operations:
  sign_up:
    request: {path: /users, body: {email: %q, name: "{{.Intent.Marker}}"}}
    identity: /id
    rows: {query: "select id from users where name = :marker", identity: id}
`, email), nil)
		if err != nil {
			require.False(t, renames, err)
			continue
		}
		require.Equal(t, renames, target.Renames(target.Operations["sign_up"]), email)
	}
}
