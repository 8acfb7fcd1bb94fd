package targets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
)

func TestWhatIsGivenStandsInPlaceOfTheFiles(t *testing.T) {
	t.Parallel()
	const file = `name: shop
base_url: ${UNSET}
database: {url: "${UNSET}"}
operations:
  create:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}
    rows: {query: select id from orders where note = :marker}
`
	_, err := targets.Load("shop.yaml", []byte(file), environment)
	require.ErrorContains(t, err, "the environment variable UNSET is not set")
	given := map[string]string{"/base_url": "http://127.0.0.1:8080", "/database/url": "sqlite:given", "/socket": "nowhere"}
	target, err := targets.LoadInstead("shop.yaml", []byte(file), environment, given)
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:8080", target.BaseURL)
	require.Equal(t, "sqlite:given", target.Database.URL)
	require.Empty(t, target.Socket, "where the file has none, none stands")
	given["/base_url"] = "ftp://nobody"
	_, err = targets.LoadInstead("shop.yaml", []byte(file), environment, given)
	require.ErrorContains(t, err, `shop.yaml:2:11: base_url: expected a URL that begins with http:// or https://, got "${UNSET}"`)
}
