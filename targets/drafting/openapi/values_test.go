package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOtherValuesFitTheSchema(t *testing.T) {
	t.Parallel()
	others := map[string]any{}
	for _, document := range []string{"orders.yaml", "payments.yaml", "pets.yaml", "staff.yaml"} {
		for _, o := range draft(t, document, "").Others {
			others[o.Pointer] = o.Value
		}
	}
	require.Equal(t, int64(1201), others["/amount"])
	require.Equal(t, int64(112), others["/amount/value"])
	require.Equal(t, int64(8), others["/lives"], "one more would be too much")
	require.Equal(t, "lead", others["/role"])
	require.NotContains(t, others, "/idempotency_key")
	require.NotContains(t, others, "/customer/email")
}
