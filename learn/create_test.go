package learn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestARefusalNamesServicesThatTheTargetMayMiss(t *testing.T) {
	t.Parallel()
	services := drafting.Services([]string{"PAYMENTS_URL=https://payments.example", "SMTP_HOST=mail"}, "http://127.0.0.1:1")
	require.Equal(t, ", or misses a service that it asks (PAYMENTS_URL and SMTP_HOST), for which the sinks in the file can stand in", missed(503, services))
	require.Empty(t, missed(422, services))
	require.Empty(t, missed(503, nil))
}
