package targets_test

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

func TestAFormIsWrittenAsOne(t *testing.T) {
	t.Parallel()
	o := targets.Operation{
		Request: targets.Request{Path: "/", Form: map[string]any{
			"note": "{{.Intent.Marker}} & co", "amount": 1200, "price": 1.5, "gift": false, "tags[]": []any{"a", "b", 3}, "own": "{{.Intent.Number | json}}",
		}},
		Alter: map[string]any{"amount": 9900},
		Key:   targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "token"}},
	}
	r, err := o.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.Equal(t, "amount=1200&gift=false&note=m1+%26+co&own=7&price=1.5&tags%5B%5D=a&tags%5B%5D=b&tags%5B%5D=3", string(r.Body))
	require.Equal(t, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, r.Header)
	require.JSONEq(t, `{"amount":1200,"gift":false,"note":"m1 & co","own":7,"price":1.5,"tags[]":["a","b",3]}`, string(r.Says))

	require.NoError(t, o.PlaceKey(&r, "k=1"))
	form, err := url.ParseQuery(string(r.Body))
	require.NoError(t, err)
	require.Equal(t, "k=1", form.Get("token"))
	require.Equal(t, "1200", form.Get("amount"))
	require.Contains(t, string(r.Says), `"token":"k=1"`)

	altered, err := o.Render(values(), targets.Altered)
	require.NoError(t, err)
	require.Contains(t, string(altered.Body), "amount=9900&")

	deep := targets.Operation{
		Request: targets.Request{Path: "/", Body: map[string]any{"in": map[string]any{"note": "{{.Intent.Marker}}"}}},
		Key:     targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "/in/a~1b"}},
	}
	r, err = deep.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.NoError(t, deep.PlaceKey(&r, "k"))
	require.JSONEq(t, `{"in":{"note":"m1","a/b":"k"}}`, string(r.Body))
	deep.Key.Name = "/out/key"
	require.ErrorContains(t, deep.PlaceKey(&r, "k"), `there is no object at "/out"`)

	o.Request.Header = map[string]string{"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
	typed, err := o.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.Len(t, typed.Header, 1)
}

// read takes a multipart body apart: names, file names and types by content.
func read(t *testing.T, r targets.Rendered) map[string][]string {
	t.Helper()
	media, parameters, err := mime.ParseMediaType(r.Header["Content-Type"])
	require.NoError(t, err)
	require.Equal(t, "multipart/form-data", media)
	parts := map[string][]string{}
	for reader := multipart.NewReader(bytes.NewReader(r.Body), parameters["boundary"]); ; {
		part, err := reader.NextPart()
		if err == io.EOF {
			return parts
		}
		require.NoError(t, err)
		content, err := io.ReadAll(part)
		require.NoError(t, err)
		parts[part.FormName()] = append(parts[part.FormName()], part.FileName()+"|"+part.Header.Get("Content-Type")+"|"+string(content))
	}
}

func TestAMultipartFormIsWrittenAsOne(t *testing.T) {
	t.Parallel()
	file := map[string]any{"file": `a"b.png`, "type": "image/png", "content": "PNG {{.Intent.Marker}}\r\n"}
	o := targets.Operation{
		Request: targets.Request{Path: "/", Multipart: map[string]any{
			"note": "{{.Intent.Marker}}", "amount": 1200, "photo": file, "more": []any{"x", map[string]any{"file": "b"}},
		}},
		Alter: map[string]any{"photo": map[string]any{"content": "other"}},
		Key:   targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "token"}},
	}
	r, err := o.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	want := map[string][]string{
		"note": {"||m1"}, "amount": {"||1200"}, "photo": {`a"b.png|image/png|PNG m1` + "\r\n"}, "more": {"||x", "b|application/octet-stream|"},
	}
	require.Equal(t, want, read(t, r))
	again, err := o.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.Equal(t, r, again, "a repeated request is the same bytes")

	require.NoError(t, o.PlaceKey(&r, "k"))
	want["token"] = []string{"||k"}
	require.Equal(t, want, read(t, r))

	altered, err := o.Render(values(), targets.Altered)
	require.NoError(t, err)
	require.Equal(t, []string{`a"b.png|image/png|other`}, read(t, altered)["photo"])

	_, parameters, err := mime.ParseMediaType(r.Header["Content-Type"])
	require.NoError(t, err)
	o.Request.Multipart["note"] = "\r\n--" + parameters["boundary"] + "--"
	hostile, err := o.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.Equal(t, []string{"||\r\n--" + parameters["boundary"] + "--"}, read(t, hostile)["note"], "a text does not end the form")
}

func TestAKeyInThePathIsOneSegment(t *testing.T) {
	t.Parallel()
	o := targets.Operation{
		Request: targets.Request{Method: "PUT", Path: "/orders/{{.Key}}/lines?of={{.Intent.Reference}}"},
		Key:     targets.Key{Key: contract.Key{In: contract.KeyInPath}},
	}
	for key, want := range map[string]string{
		"a-b": "/orders/a-b/lines?of=r1", `a/b ?#"%`: "/orders/a%2Fb%20%3F%23%22%25/lines?of=r1", "é ": "/orders/%C3%A9%20/lines?of=r1",
	} {
		r, err := o.Render(values(), targets.AsItIs)
		require.NoError(t, err)
		require.Equal(t, "/orders/{{.Key}}/lines?of=r1", r.Path)
		require.NoError(t, o.PlaceKey(&r, key))
		require.Equal(t, want, r.Path)
		u, err := url.Parse(r.Path)
		require.NoError(t, err)
		require.Equal(t, "/orders/"+key+"/lines", u.Path)
	}
	r, err := o.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.ErrorContains(t, o.PlaceKey(&r, ""), "cannot stand in a path")
	require.ErrorContains(t, o.PlaceKey(&targets.Rendered{Path: "/"}, "k"), "does not hold")
}

func TestAPayloadRepeatsTheKeyOfThePath(t *testing.T) {
	t.Parallel()
	body := map[string]any{"id": "{{ .Key }}", "parts": []any{map[string]any{"of": "a-{{.Key}}"}}, "note": "{{.Intent.Marker}}", "n": 2}
	for name, request := range map[string]targets.Request{
		"JSON": {Body: body}, "a form": {Form: map[string]any{"id": "{{.Key}}"}}, "a text": {Text: map[string]any{"id": "{{.Key}}"}, Written: "<id>{{.id}}</id>"},
	} {
		request.Method, request.Path = "PUT", "/orders/{{.Key}}"
		o := targets.Operation{Request: request, Key: targets.Key{Key: contract.Key{In: contract.KeyInPath}}}
		r, err := o.Render(values(), targets.AsItIs)
		require.NoError(t, err, name)
		require.NoError(t, o.PlaceKey(&r, `k"<1`), name)
		require.Equal(t, map[string]string{
			"JSON": `{"id":"k\"<1","n":2,"note":"m1","parts":[{"of":"a-k\"<1"}]}`, "a form": "id=k%22%3C1", "a text": "<id>k&#34;&lt;1</id>",
		}[name], string(r.Body), name)
	}
}

func TestASignatureIsOverWhatIsSent(t *testing.T) {
	t.Parallel()
	at := time.Unix(1700000000, 5)
	for name, c := range map[string]struct {
		sign targets.Sign
		want map[string]string
	}{
		// echo -n '{"note":"m1"}' | openssl dgst -sha256 -hmac s3cret
		"the body, in hexadecimal": {
			targets.Sign{Header: "X-Hub-Signature-256", HMAC: targets.HashSHA256, Secret: "s3cret", Over: "{{.Body}}", Encoding: targets.EncodingHex, Prefix: "sha256="},
			map[string]string{"X-Hub-Signature-256": "sha256=52d3dd3fccf4a497d0416048320bba1b34729010481531319daced62988248d3"},
		},
		// echo -n '1700000000.POST /api/c?a=1 the-key {"note":"m1"}' | openssl dgst -sha512 -hmac t0k -binary | openssl base64 -A
		"everything, in base64, with the time": {
			targets.Sign{
				Header: "Sig", HMAC: targets.HashSHA512, Secret: "{{.Principal.Token}}", Over: "{{.Time}}.{{.Method}} {{.Path}} {{.Key}} {{.Body}}",
				Encoding: targets.EncodingBase64, Time: &targets.SignTime{Header: "Sig-Time"},
			},
			map[string]string{"Sig": "eGFQtzP54CfGGZuviU7fPswDpPCIbJtWa9PtsOMLhqYiP5w5gfeOFpDpzy5IwnfpWCP5rI14EZDSEEKKB8rGtg==", "Sig-Time": "1700000000"},
		},
		// echo -n 'the-key' | openssl dgst -sha1 -hmac s3cret
		"the key, with an old hash": {
			targets.Sign{Header: "Sig", HMAC: targets.HashSHA1, Secret: "s3cret", Over: "{{.Key}}", Encoding: targets.EncodingHex},
			map[string]string{"Sig": "0360741172d0e413fb1f1c8bdbb5eef8955ce013"},
		},
		"the time in front of the signature": {
			targets.Sign{Header: "Sig", HMAC: targets.HashSHA256, Secret: "s3cret", Over: "{{.Time}}.{{.Body}}", Encoding: targets.EncodingHex, Prefix: "t={{.Time}},v1="},
			map[string]string{"Sig": "t=1700000000,v1=866817b048d54e5248cac92ff9be9cdf49f5f0185ec15cc2ba046dfa1b61d4d3"},
		},
		// of the bytes "twenty-four bytes of key"
		"a secret in base64, with a name": {
			targets.Sign{
				Header: "Sig", HMAC: targets.HashSHA256, Secret: "whsec_dHdlbnR5LWZvdXIgYnl0ZXMgb2Yga2V5", Written: targets.EncodingBase64, Over: "{{.Key}}.{{.Time}}.{{.Body}}",
				Encoding: targets.EncodingBase64, Prefix: "v1,", Time: &targets.SignTime{Header: "Sig-Time"},
			},
			map[string]string{"Sig": "v1,tzlomAiyygsc4mnXMUstIVTYuxo0aDUWNdjdrpPPgis=", "Sig-Time": "1700000000"},
		},
		"a secret in hexadecimal": {
			targets.Sign{Header: "Sig", HMAC: targets.HashSHA256, Secret: "00FF10", Written: targets.EncodingHex, Over: "{{.Body}}", Encoding: targets.EncodingHex},
			map[string]string{"Sig": "8efa5fb5a3ca9ae37d9f34f29235bff4d666e07b7fedff3e07a1ec1e4893887a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := targets.Operation{Request: targets.Request{Path: "/c?a=1", Body: map[string]any{"note": "{{.Intent.Marker}}"}, Sign: &c.sign}}
			r, err := o.Render(values(), targets.AsItIs)
			require.NoError(t, err)
			require.NoError(t, o.Sign(&r, "/api", "the-key", at))
			for header, value := range c.want {
				require.Equal(t, value, r.Header[header])
			}
			require.Len(t, r.Header, 1+len(c.want))
		})
	}
	bad := targets.Operation{Request: targets.Request{Path: "/", Sign: &targets.Sign{Header: "Sig", Secret: "no*base64", Written: targets.EncodingBase64, Over: "x"}}}
	r, err := bad.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	err = bad.Sign(&r, "", "", at)
	require.ErrorContains(t, err, "not written in base64")
	require.NotContains(t, err.Error(), "no*", "the error does not quote a secret")
	unsigned := targets.Rendered{Method: http.MethodPost}
	require.NoError(t, targets.Operation{}.Sign(&unsigned, "", "", at))
	require.Equal(t, targets.Rendered{Method: http.MethodPost}, unsigned)
}

func TestWhatSignsIsASecretWhereverItComesFrom(t *testing.T) {
	t.Parallel()
	target, err := targets.Load("signed.yaml", []byte(strings.TrimSpace(`
name: signed
base_url: http://localhost
principals: {alice: {Secret: from-a-principal}}
operations:
  plain: {request: {path: /, body: {n: "{{.Intent.Marker}}"}, sign: {header: Sig, hmac: sha256, secret: spelled-out}}}
  templated: {request: {path: /, form: {n: "{{.Intent.Marker}}", k: "${KEY}"}, sign: {header: Sig, hmac: sha256, secret: "{{.Principal.Secret}}"}}}
`)), func(string) (string, bool) { return "from-a-variable", true })
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"spelled-out", "from-a-variable"}, target.Secrets)
	require.Equal(t, "{{.Body}}", target.Operations["plain"].Request.Sign.Over)
	require.Equal(t, targets.EncodingHex, target.Operations["plain"].Request.Sign.Encoding)
}

// TestABodyThatIsAList holds that a member of a text can be written as JSON, with its types: so a list is a whole body.
func TestABodyThatIsAList(t *testing.T) {
	t.Parallel()
	o := targets.Operation{Request: targets.Request{Path: "/", Written: "{{.items | json}}", Text: map[string]any{"items": []any{
		map[string]any{"note": `{{.Intent.Marker}} "&`, "amount": 12, "rate": 2.5, "paid": false, "room": nil},
	}}}}
	r, err := o.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.Equal(t, `[{"amount":12,"note":"m1 \"&","paid":false,"rate":2.5,"room":null}]`, string(r.Body))
	o.Request.Written = "{{range .items}}{{.amount}} {{.paid}} [{{.room}}]{{end}}"
	r, err = o.Render(values(), targets.AsItIs)
	require.NoError(t, err)
	require.Equal(t, "12 false []", string(r.Body), "elsewhere each is its text")
}
