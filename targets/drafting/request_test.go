package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// TestAnAuthorIsNoSecret holds that a member becomes a variable for its secret alone: a file that lacks a value cannot be run.
func TestAnAuthorIsNoSecret(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]bool{
		"author": false, "authorName": false, "co_author": false, "authority": false, "secretary": false, "session_title": false, "sessionsPerWeek": false,
		"auth": true, "authorization": true, "oauth_code": true, "authToken": true, "x-auth": true, "authorisation": true, "client_secret": true,
		"password_expiry": false, "passwordExpiresAt": false, "password-policy": false, "token_expires_in": false, "password_change": true,
		"secrets": true, "session": true, "sessionId": true, "session_key": true, "password": true,
	} {
		r, err := drafting.ReadCurl(`curl http://127.0.0.1/things -d '{"` + name + `": "some words"}'`)
		require.NoError(t, err)
		require.Equal(t, secret, len(r.Draft("SHOP").Needed) == 1, name)
	}
}

// TestASwitchIsNoSecret holds that a header or a parameter that only says yes or no stays in the file, and a short secret does not.
func TestASwitchIsNoSecret(t *testing.T) {
	t.Parallel()
	for value, secret := range map[string]bool{"1": false, "true": false, "False": false, "2": true, "one": true, "k1": true} {
		r, err := drafting.ReadCurl(`curl 'http://127.0.0.1/things?refresh_token=` + value + `' -H 'X-Revocable-Session: ` + value + `' -d '{"note": "some words"}'`)
		require.NoError(t, err)
		d := r.Draft("SHOP")
		require.Equal(t, secret, len(d.Needed) == 2, value)
		require.Equal(t, secret, d.Header["X-Revocable-Session"] != value, value)
	}
}
