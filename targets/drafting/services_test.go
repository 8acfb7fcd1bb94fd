package drafting_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestServicesAreFoundInAnEnvironment(t *testing.T) {
	t.Parallel()
	const base = "http://localhost:8080"
	for line, kind := range map[string]string{
		"STRIPE_API_URL=https://api.stripe.com":                         "http",
		"export SHIPPING_ENDPOINT='http://shipping:9000/v1'":            "http",
		"SMTP_HOST=mail.example.com":                                    "smtp",
		"EMAIL_SERVER_ADDRESS=10.0.0.7":                                 "smtp",
		"NOTIFY=smtp://localhost:25":                                    "smtp",
		"MAIL_API_URL=https://api.mailer.example":                       "http",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318":             "otlp",
		"REDIS_URL=redis://:hush@10.0.0.1:6379/0":                       "redis",
		"EVENTS=rediss://10.0.0.1":                                      "redis",
		"AMQP_URL=\"amqp://guest:guest@rabbit/\"":                       "rabbitmq",
		"REDIS_HOST=10.0.0.1":                                           "",
		"DOUBLETAP_STORE=redis://127.0.0.1:6379/0":                      "",
		"ORDERS_URL=http://localhost:8080/":                             "",
		"DATABASE_URL=postgres://localhost/shop":                        "",
		"SEARCH_DATABASE_URL=http://localhost:9200":                     "",
		"HTTPS_PROXY=http://proxy:3128":                                 "",
		"GITHUB_API_URL=https://api.github.com":                         "",
		"SMTP_PASSWORD=hush":                                            "",
		"SMTP_HOST=":                                                    "",
		"PAYMENTS_URL=payments":                                         "",
		"PATH=/usr/bin":                                                 "",
		"# STRIPE_API_URL=https://api.stripe.com":                       "",
		"STRIPE_API_URL":                                                "",
		"evil\": {}}\nname: x_URL=http://x":                             "",
		"DOCS_PAGE=https://example.com":                                 "",
		"_=http://localhost:1":                                          "",
		"CALLBACK_URL=http://user:secret-word@callbacks.example/a?t=ok": "http",
	} {
		found := drafting.Services([]string{line}, base)
		if kind == "" {
			require.Empty(t, found, line)
			continue
		}
		require.Len(t, found, 1, line)
		require.Equal(t, kind, found[0].Kind, line)
		require.NotContains(t, found[0].Variable, "secret")
	}
}

func TestServicesAreOfferedAsAComment(t *testing.T) {
	t.Parallel()
	f := drafting.File{Target: "shop", Source: "a test", BaseURL: "http://localhost:8080", Draft: drafting.Draft{
		Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "x", "amount": int64(1)}, Texts: []string{"/note"}, Others: []drafting.Other{{Pointer: "/amount", Value: int64(2)}},
	}}
	f.Services = drafting.Services([]string{"STRIPE_API_URL=https://api.stripe.com", "SMTP_HOST=mail", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "SMTP_HOST=twice", "REDIS_URL=redis://:hush@10.0.0.1", "AMQP_URL=amqp://rabbit"}, f.BaseURL)
	text, err := f.Text()
	require.NoError(t, err)
	const offered = `# sinks:
#   amqp: {rabbitmq: {url: "${AMQP_URL}", exchange: orders}} # if it publishes there; or queue:
#   spans: {listen: 127.0.0.1:19091, otlp: {}} # in place of OTEL_EXPORTER_OTLP_ENDPOINT
#   redis: {redis: {url: "${REDIS_URL}", stream: orders}} # if it publishes there; or list:, or channel:
#   mail: {listen: 127.0.0.1:19093, smtp: {}} # in place of SMTP_HOST
#   stripe: {listen: 127.0.0.1:19094, http: {provider: stripe}} # in place of STRIPE_API_URL
`
	require.Contains(t, text, offered)
	taken := strings.Replace(text, offered, strings.ReplaceAll(offered[2:], "\n# ", "\n"), 1)
	for _, file := range []string{text, taken} {
		target, err := targets.Load("shop.yaml", []byte(file), func(name string) (string, bool) {
			value := map[string]string{"AMQP_URL": "amqp://127.0.0.1", "REDIS_URL": "redis://127.0.0.1"}[name]
			return value, value != "" && file == taken
		})
		require.NoError(t, err, file)
		require.Len(t, target.Sinks, map[bool]int{false: 0, true: 5}[file == taken])
	}
}

func TestAProcessIsToldOfItsSinks(t *testing.T) {
	t.Parallel()
	f := drafting.File{Target: "shop", Source: "a test", BaseURL: "http://127.0.0.1:8080", Start: &drafting.Start{Command: []string{"shop"}}, Draft: drafting.Draft{
		Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "x"}, Texts: []string{"/note"},
	}}
	f.Services = drafting.Services([]string{"PAYMENTS_URL=https://payments.example", "SMTP_HOST=mail", "MAIL_SERVER=mail:25", "REDIS_URL=redis://10.0.0.1"}, f.BaseURL)
	text, err := f.Text()
	require.NoError(t, err)
	const offered = `# sinks:
#   mail: {smtp: {}} # in place of MAIL_SERVER; process.env: {MAIL_SERVER: "{{.Sink.mail.Host}}:{{.Sink.mail.Port}}"}
#   payments: {http: {}} # in place of PAYMENTS_URL; process.env: {PAYMENTS_URL: "{{.Sink.payments.URL}}"}
#   redis: {redis: {url: "${REDIS_URL}", stream: orders}} # if it publishes there; or list:, or channel:; process.env: {REDIS_URL: "{{.Sink.redis.URL}}"}
#   mail: {smtp: {}} # in place of SMTP_HOST; process.env: {SMTP_HOST: "{{.Sink.mail.Host}}", SMTP_PORT: "{{.Sink.mail.Port}}"}
`
	require.Contains(t, text, offered)
}
