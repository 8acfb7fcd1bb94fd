package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/servers"
)

// publishingShop is a shop that publishes an event for each key it has not seen, and the file of a target with a sink there.
func publishingShop(t *testing.T, address, stream string, publish func(client *redis.Client, stream, text string)) (file string) {
	t.Helper()
	options, err := redis.ParseURL(address)
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() {
		client.Del(context.Background(), stream)
		client.Close()
	})
	var published sync.Map // keys
	shop := newShop(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key := r.Header.Get("Idempotency-Key")
			if _, before := published.LoadOrStore(key, true); !before && r.Method == http.MethodPost {
				publish(client, stream, r.Header.Get("X-Order"))
			}
			next.ServeHTTP(w, r)
		})
	})
	file = filepath.Join(t.TempDir(), "shop.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `name: shop
base_url: %s
database: {url: "sqlite:///%s"}
sinks: {events: {redis: {url: "%s", stream: %s, type: type}}}
operations:
  create:
    request: {path: /things, headers: {X-Order: "order {{.Intent.Marker}}"}, body: {note: "{{.Intent.Marker}}", amount: 1200}}
    key: {in: header}
    rows: {query: select id from things where note = :marker}
    effects: [{name: created, seen: events, where: {type: order.created}}]
`, shop.url, strings.TrimPrefix(shop.path, "/"), address, stream), 0o600))
	return file
}

func publishOnce(client *redis.Client, stream, text string) {
	client.XAdd(context.Background(), &redis.XAddArgs{Stream: stream, Values: []string{"type", "order.created", "text", text}})
}

func TestMessagesInRedisAreEffects(t *testing.T) {
	t.Parallel()
	server, err := servers.Redis(t.Context(), servers.Options{}) // whose connections are cut
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	told := typed(t, "doctor", "--target", publishingShop(t, server.URL(), "doctored", publishOnce))
	require.Regexp(t, `sink events .* of the last plain creates reached it at redis://127.0.0.1:\d+/0, stream doctored: message to doctored, "order.created"`, strings.Join(strings.Fields(told.out), " "))
	for name, c := range map[string]struct {
		publish func(client *redis.Client, stream, text string)
		code    int
		says    string
	}{
		"one for each order": {publishOnce, exitPass, "effect-seen"},
		"two": {func(client *redis.Client, stream, text string) {
			publishOnce(client, stream, text)
			publishOnce(client, stream, text)
		}, exitFinding, `message to STREAM, "order.created"`},
		"and the sink loses its connection": {func(client *redis.Client, stream, text string) {
			publishOnce(client, stream, text)
			if client.XLen(context.Background(), stream).Val() > 6 { // behind those of the pilot
				client.Do(context.Background(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
			}
		}, exitInconclusive, "messages of the sink events may be missing"},
		"and it loses it in the pilot": {func(client *redis.Client, stream, text string) {
			publishOnce(client, stream, text)
			client.Do(context.Background(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		}, exitEnvironment, "messages of the sink events may be missing"},
	} {
		t.Run(name, func(t *testing.T) {
			stream := "orders-" + rand.Text()
			x := trial{reports: t.TempDir()}
			got := typed(t, "run", "--target", publishingShop(t, server.URL(), stream, c.publish), "--seed", "3", "--reports", x.reports, "plain-create")
			require.Equal(t, c.code, got.code, "%s", got)
			require.Contains(t, strings.Join(strings.Fields(got.out+got.err), " "), strings.ReplaceAll(c.says, "STREAM", stream), "%s", got)
			if c.code == exitEnvironment {
				return
			}
			x.checked(t, got)
			result := onlyReport(t, x.reports).Results[0]
			if c.code != exitFinding {
				require.Empty(t, result.Findings, "nothing is missed that may not have been seen")
				return
			}
			require.Equal(t, checker.EffectMismatch, result.Findings[0].Kind)
		})
	}
}

func TestASinkInRedisThatCannotBeRead(t *testing.T) {
	t.Parallel()
	file := publishingShop(t, os.Getenv("DOUBLETAP_STORE"), "orders-"+rand.Text(), func(*redis.Client, string, string) {})
	got := typed(t, "run", "--target", file, "--reports", t.TempDir(), "plain-create")
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, "nothing was published that the sink events sees at redis://127.0.0.1:", "%s", got)
	password, _, _ := strings.Cut(strings.TrimPrefix(os.Getenv("DOUBLETAP_STORE"), "redis://:"), "@")
	require.NotContains(t, got.out+got.err, password)

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for address, c := range map[string]struct {
		code int
		says string
	}{
		"redis://:hunter22@127.0.0.1:1/0":   {exitEnvironment, "sinks.events: reach Redis: dial tcp 127.0.0.1:1: connect: connection refused"},
		"redis://:hunter22@redis.example/0": {exitConfig, "sinks.events points to redis.example, which is not this machine"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), os.Getenv("DOUBLETAP_STORE"), address)), 0o600))
		got := typed(t, "run", "--target", file, "--reports", t.TempDir(), "plain-create")
		require.Equal(t, c.code, got.code, "%s", got)
		require.Contains(t, got.err, c.says)
		require.NotContains(t, got.out+got.err, "hunter22")
	}
}
