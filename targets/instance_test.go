package targets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
)

func TestInstancesThatCannotBe(t *testing.T) {
	t.Parallel()
	const rest = "\ncontract: {preset: ietf}\noperations:\n  create: {request: {path: /orders, body: {note: \"{{.Intent.Marker}}\"}}}\n"
	none := func(string) (string, bool) { return "", false }
	good, err := targets.Load("t.yaml", []byte("name: t\nbase_url: https://orders.example/v1\ninstances: {eu: https://eu.example/v1, us: {base_url: https://us.example/v1}}"+rest), none)
	require.NoError(t, err)
	require.Equal(t, []string{"eu", "us"}, good.InstanceNames())
	require.Equal(t, "https://us.example/v1", good.At("us").BaseURL)
	for head, says := range map[string]string{
		"base_url: http://127.0.0.1:1\ninstances: {eu: http://127.0.0.1:2}":                                                         "t.yaml:3:1: instances: at least 2 keys",
		"base_url: http://127.0.0.1:1\ninstances: {eu: http://127.0.0.1:2, us: https://127.0.0.1:3}":                                "t.yaml:3:41: instances.us: expected http:// and the path",
		"base_url: http://127.0.0.1:1/v1\ninstances: {eu: http://127.0.0.1:2/v1, us: http://127.0.0.1:3/v2}":                        "instances.us: expected http:// and the path of base_url",
		"base_url: http://127.0.0.1:1\ninstances: {eu: http://127.0.0.1:2, us: nowhere}":                                            "instances.us: expected a URL with a host",
		"base_url: http://127.0.0.1:1\nprotocol: http/2\ninstances: {eu: http://127.0.0.1:2, us: http://127.0.0.1:3}":               "several addresses are for HTTP/1.1",
		"base_url: http://127.0.0.1:1\nprocess: {command: [x]}\ninstances: {eu: http://127.0.0.1:2, us: http://127.0.0.1:3}":        "doubletap starts this one",
		"base_url: http://127.0.0.1:1\ninstances: {eu: http://127.0.0.1:2, us: {base_url: http://127.0.0.1:3, database: sqlite:x}}": "instances.us.database: the rows are read from database.url first",
	} {
		_, err := targets.Load("t.yaml", []byte("name: t\n"+head+rest), none)
		require.ErrorContains(t, err, says, head)
	}
}

func TestWhatConvergesIsDeclared(t *testing.T) {
	t.Parallel()
	none := func(string) (string, bool) { return "", false }
	file := func(contract, database string) []byte {
		return []byte("name: t\nbase_url: http://127.0.0.1:1\ndatabase: {url: sqlite:y}\ninstances: {eu: http://127.0.0.1:2, us: {base_url: http://127.0.0.1:3" + database + "}}\n" +
			"contract: {preset: ietf" + contract + "}\noperations:\n  create: {request: {path: /orders, body: {note: \"{{.Intent.Marker}}\"}}, rows: {query: \"select 1 where :marker = ''\"}}\n")
	}
	good, err := targets.Load("t.yaml", file(", converged: 30s", ", database: sqlite:x"), none)
	require.NoError(t, err)
	require.Equal(t, "sqlite:x", good.Instances["us"].Database)
	_, err = targets.Load("t.yaml", file("", ", database: sqlite:x"), none)
	require.ErrorContains(t, err, "expected contract.converged")
	_, err = targets.Load("t.yaml", file(", converged: 30s", ""), none)
	require.ErrorContains(t, err, "contract.converged: there is one database")
}
