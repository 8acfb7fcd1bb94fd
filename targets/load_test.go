package targets_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/scenarios/document"
	"github.com/doubletap-harness/doubletap/targets"
)

var update = flag.Bool("update", false, "write the golden files anew")

const secret = "hunter2: {{ ~ swordfish"

// environment holds a secret whatever it is asked for, but for the names that are not set.
func environment(name string) (string, bool) {
	return secret, name != "UNSET" && name != "SHOP_URL"
}

func TestEveryMistakeIsToldAtOnceWithItsPlaceAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			_, err = targets.Load(filepath.Base(file), data, environment)
			require.ErrorAs(t, err, new(document.Mistakes))
			require.NotContains(t, err.Error(), "hunter2")
			require.NotContains(t, err.Error(), "swordfish")
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644))
			}
			want, readErr := os.ReadFile(golden)
			require.NoError(t, readErr)
			require.Equal(t, string(want), err.Error()+"\n")
		})
	}
}

func load(t *testing.T, file string) targets.Target {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	target, err := targets.Load(file, data, environment)
	require.NoError(t, err)
	return target
}

func TestAFullFileIsReadAsItIsMeant(t *testing.T) {
	t.Parallel()
	target := load(t, "testdata/good/full.yaml")
	require.Equal(t, "http://localhost:8080/api", target.BaseURL)
	require.Equal(t, "postgres://shop:"+secret+"@localhost/shop", target.Database.URL)
	require.Equal(t, targets.Principal{"Token": secret, "Tenant": "7"}, target.Principals["alice"])
	require.Equal(t, targets.Duration(2*time.Second), target.Settle)
	require.Equal(t, &targets.Received{Path: "/-/received", Pointer: "/received"}, target.Received)

	order := target.Operations["create_order"]
	require.Equal(t, targets.Key{In: targets.KeyInHeader, Name: "Idempotency-Key", Required: true, Quoted: true}, order.Key)
	require.Equal(t, "PUT", order.Request.Method)
	require.Equal(t, map[string]any{"1": "one", "2": nil}, order.Request.Body["by"])
	require.Equal(t, "2024-02-03", order.Request.Body["date"])
	require.Equal(t, map[string]string{"amount": "/price/amount"}, order.Rows.Content)

	pay := target.Operations["pay"]
	require.Equal(t, "POST", pay.Request.Method)
	require.Equal(t, "2024-02-04", pay.Request.Body["date"])
	require.Equal(t, "{{.Intent.Marker}}", pay.Request.Body["note"])
}

func TestAFileLeavesOutMuch(t *testing.T) {
	t.Parallel()
	target, err := targets.Load("t.yaml", []byte(`
name: small
base_url: http://127.0.0.1:80
operations: {create: {request: {path: /c, body: {n: "{{.Intent.Marker}}"}}, key: {in: header}}}
`), nil)
	require.NoError(t, err)
	require.Equal(t, targets.Duration(500*time.Millisecond), target.Settle)
	require.Equal(t, targets.Idempotent, target.Contract.Level)
	require.Equal(t, []int{200, 201, 204}, target.Contract.Ack.Statuses)
	require.Equal(t, targets.Replay{Body: targets.SameJSON}, target.Contract.Replay)
	require.Equal(t, "Idempotency-Key", target.Operations["create"].Key.Name)
	require.Equal(t, "POST", target.Operations["create"].Request.Method)
}

func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.yaml")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		target, err := targets.Load("f.yaml", data, environment)
		if err != nil {
			require.ErrorAs(t, err, new(document.Mistakes))
			return
		}
		for _, o := range target.Operations {
			v := targets.Values{Intent: targets.IntentValues{Marker: "m", Reference: "r", Number: 1}}
			for _, v.Principal = range target.Principals {
				_, err := o.Render(v, o.Alter != nil)
				require.NoError(t, err)
			}
		}
	})
}
