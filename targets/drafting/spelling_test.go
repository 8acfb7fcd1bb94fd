package drafting

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefusalsForOneReason holds that two refusals are told apart by what they say, and not by what they quote of the requests.
func TestRefusalsForOneReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"a sentence":                {`{"errors": ["Login has already been taken"]}`, `{"errors": ["Login has already been taken"]}`, true},
		"two sentences":             {`{"errors": ["Login has already been taken"]}`, `{"errors": ["Login is invalid"]}`, false},
		"two codes":                 {`{"code": "taken"}`, `{"code": "invalid_format"}`, false},
		"two numbers":               {`{"code": 159}`, `{"code": 160}`, false},
		"a code beside a sentence":  {`{"code": "invalid", "message": "is taken"}`, `{"code": "invalid", "message": "has capitals"}`, false},
		"a value that is quoted":    {`{"message": "refa2bcdefgh@example.com is taken"}`, `{"message": "REFHGFEDCB3A@EXAMPLE.COM is taken"}`, true},
		"a value without a digit":   {`{"message": "refabcdefghijklmnopqr is taken"}`, `{"message": "refzyxwvutsrqponmlkji is taken"}`, true},
		"what is not said in words": {`{"error": {"id": 1}}`, `{"error": {"id": 2}}`, true},
		"one that says nothing":     {`{"message": "is taken"}`, `{}`, false},
	} {
		read := func(text string) Answer {
			a := Answer{Status: 422}
			require.NoError(t, json.Unmarshal([]byte(text), &a.Body))
			return a
		}
		require.Equal(t, c.same, SameRefusal(read(c.a), read(c.b)), name)
	}
	require.False(t, SameRefusal(Answer{Status: 422}, Answer{Status: 409}))
	require.False(t, SameRefusal(Answer{Status: 201}, Answer{Status: 201}))
}
