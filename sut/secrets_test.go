package sut

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
)

func TestTheProcessLogHoldsNoSpellingOfAPassword(t *testing.T) {
	t.Parallel()
	source := []byte("process: {env: {QUEUE: '${QUEUE_URL}', TOKEN: '${SHOP_TOKEN}'}}")
	env := map[string]string{"QUEUE_URL": "amqp://bob:r%40bbit-h0le@127.0.0.1/", "SHOP_TOKEN": "s3cret/and+more"}
	getenv := func(name string) (string, bool) { value, set := env[name]; return value, set }
	s := System{Name: "shop.yaml", options: Options{Source: source, Getenv: getenv}, Target: targets.Target{
		Database: targets.Database{URL: "postgres://shop:d%40ta%20b%2dbase@127.0.0.1:5432/shop?a=b@c"}, Store: targets.Store{URL: "redis://:p%40ss-w%6Frd@127.0.0.1:6379/0"},
	}}
	var printed strings.Builder
	log := s.newLog(&printed)
	for _, line := range []string{
		"redis://:p%40ss-w%6Frd@127.0.0.1:6379/0", "redis://:p%40ss-word@127.0.0.1:7001/0", "p@ss-word",
		"postgres://shop:d%40ta%20b-base@127.0.0.1:7002/shop", "d%40ta+b-base", "d@ta b-base",
		"amqp://bob:r%40bbit-h0le@10.0.0.1/", "r@bbit-h0le", "/?t=s3cret%2Fand%2Bmore", "s3cret/and+more",
	} {
		_, _ = log.Write([]byte(line + "\n"))
	}
	require.NoError(t, log.Flush())
	for _, part := range []string{"ss-w", "b-base", "bbit", "s3cret", "and"} {
		require.NotContains(t, printed.String(), part)
		require.NotContains(t, log.String(), part)
	}
	require.Equal(t, 10, strings.Count(printed.String(), "***"))
}

func TestAFileThatSpellsAStoresPasswordOutIsNotPassedOn(t *testing.T) {
	t.Parallel()
	spells := func(store, source string) bool {
		return spellsOutPassword(&System{loaded: targets.Target{Store: targets.Store{URL: store}}}, []byte(source))
	}
	require.True(t, spells("redis://:p%40ss-w%6Frd@127.0.0.1:6379/0", "store: {url: 'redis://:p%40ss-w%6Frd@127.0.0.1:6379/0'}"))
	require.False(t, spells("redis://:p%40ss-w%6Frd@127.0.0.1:6379/0", "store: {url: '${REDIS_URL}'}"))
	require.False(t, spells("redis://127.0.0.1:6379/0", "store: {url: 'redis://127.0.0.1:6379/0'}"))
}

func TestThePasswordOfEachServerIsHidden(t *testing.T) {
	t.Parallel()
	const password = "s3cr3t-of-a-server"
	for name, target := range map[string]targets.Target{
		"a database":            {Database: targets.Database{URL: "postgres://u:" + password + "@127.0.0.1/x"}},
		"a parameter of it":     {Database: targets.Database{URL: "postgres://127.0.0.1/x?user=u&password=" + password}},
		"a store":               {Store: targets.Store{URL: "redis://:" + password + "@127.0.0.1:6379/0"}},
		"an instance's replica": {Instances: map[string]targets.Instance{"eu": {Database: "postgres://u:" + password + "@127.0.0.1/x"}}},
		"a sink in Redis":       {Sinks: map[string]targets.Sink{"events": {Redis: &targets.RedisSink{URL: "redis://:" + password + "@127.0.0.1:6379"}}}},
		"a sink in RabbitMQ":    {Sinks: map[string]targets.Sink{"events": {RabbitMQ: &targets.RabbitMQSink{URL: "amqp://u:" + password + "@127.0.0.1"}}}},
	} {
		require.True(t, spellsOutPassword(&System{loaded: target}, []byte("url: '"+password+"'")), name)
		require.False(t, spellsOutPassword(&System{loaded: target}, []byte("url: '${SERVER}'")), name)
		require.Contains(t, Hidden(&System{Name: "shop.yaml", Target: target, options: Options{Source: []byte("name: shop")}}), password, name)
	}
}

func TestAFileThatSpellsASecretOutAnywhereIsNotHandedOn(t *testing.T) {
	t.Parallel()
	const file = `name: bookings
base_url: http://127.0.0.1:1
operations:
  book:
    prepare: [request: {path: /rooms, headers: {X-Token: "${SECRET}"}, body: {name: "{{.Intent.Marker}}", by: [{password: "${SECRET}"}]}}]
    request: {path: "/bookings?room=4&api_key=${SECRET}", body: {note: "{{.Intent.Marker}}"}}
    key: {in: body, name: key, issued: [{request: {path: "/keys?token=${SECRET}"}, take: {Key: {json: /key}}}]}
    remove: [request: {method: DELETE, path: "/bookings/{{.Intent.Marker}}", form: {pin: "${SECRET}"}}]
    cleanup: [request: {path: "/rooms/close", sign: {header: X-Signature, hmac: sha256, over: "{{.Body}}", secret: "${SECRET}"}}]
    rows: {http: {path: "/bookings?note={{.Intent.Marker}}&session=${SECRET}"}}
  other:
    request: {path: /others, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header, issued: [{request: {path: /keys, multipart: {code: "${SECRET}"}}, take: {Key: {json: /key}}}]}
    rows: {http: {path: "/others?note={{.Intent.Marker}}"}}
`
	handedOn := func(file string) bool {
		s, err := Open(t.Context(), Options{
			Target: "target.yaml", Source: []byte(file), Operation: "book",
			Getenv: func(string) (string, bool) { return "s3cr3t-t0ken", true },
		}, nil)
		require.NoError(t, err)
		return s.FileWithoutSecrets() != nil
	}
	require.True(t, handedOn(file))
	parts := strings.Split(file, "${SECRET}")
	for i := range len(parts) - 1 {
		require.False(t, handedOn(strings.Join(parts[:i+1], "${SECRET}")+"spelled-out"+strings.Join(parts[i+1:], "${SECRET}")), "after %s", parts[i])
	}
}
