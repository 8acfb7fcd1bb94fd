package drafting_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// exchange is one recorded request and its answer.
type exchange struct {
	line   string            // method and URL
	sends  map[string]string // headers
	data   string            // a JSON body or a form
	status int
	gives  map[string]string // headers of the answer
	answer string
}

func (e exchange) entry(t *testing.T) string {
	t.Helper()
	method, address, _ := strings.Cut(e.line, " ")
	headers := func(all map[string]string) []map[string]string {
		list := []map[string]string{}
		for name, value := range all {
			list = append(list, map[string]string{"name": name, "value": value})
		}
		return list
	}
	request := map[string]any{"method": method, "url": address, "headers": headers(e.sends)}
	if e.data != "" {
		request["postData"] = map[string]string{"mimeType": "", "text": e.data}
	}
	text, err := json.Marshal(map[string]any{"request": request, "response": map[string]any{
		"status": e.status, "headers": headers(e.gives), "content": map[string]string{"text": e.answer},
	}})
	require.NoError(t, err)
	return string(text)
}

// draftOf is the draft of the last of some exchanges.
func draftOf(t *testing.T, exchanges ...exchange) drafting.Draft {
	t.Helper()
	var entries []string
	for _, e := range exchanges {
		entries = append(entries, e.entry(t))
	}
	all, err := drafting.ReadHAR(recording(entries...))
	require.NoError(t, err)
	return all[len(all)-1].Draft("SHOP")
}

var (
	jsonLogin = exchange{line: "POST http://h/session", data: `{"user": "alice", "password": "s3same-0pen", "remember": true}`, status: 200,
		answer: `{"data": {"token": "t0ken-of-alice", "name": "alice"}}`}
	creates = exchange{line: "POST http://h/orders", sends: map[string]string{"Authorization": "Bearer t0ken-of-alice"}, data: `{"note": "a b"}`, status: 201}
)

func TestARecordedLoginGivesTheTokenOfLaterRequests(t *testing.T) {
	t.Parallel()
	d := draftOf(t, jsonLogin, creates)
	require.Len(t, d.Login, 1)
	require.Equal(t, map[string]drafting.Extract{"Token": {JSON: "/data/token"}}, d.Login[0].Extract)
	require.Equal(t, map[string]string{"/user": "{{.Principal.User}}", "/password": "{{.Principal.Password}}"}, d.Login[0].Templates)
	require.Equal(t, map[string]string{"Authorization": "Bearer {{.Login.Token}}"}, d.Header)
	require.Equal(t, drafting.Principal{User: "${SHOP_USER}", Password: "${SHOP_PASSWORD}"}, d.Principal)
	require.ElementsMatch(t, []string{"SHOP_USER", "SHOP_PASSWORD"}, d.Needed)
	require.Equal(t, map[string]string{"SHOP_USER": "alice", "SHOP_PASSWORD": "s3same-0pen"}, d.Given)
	text, err := drafting.File{Target: "shop", BaseURL: "http://h", Draft: d}.Text()
	require.NoError(t, err)
	require.NotContains(t, text, "s3same-0pen")
	require.NotContains(t, text, "t0ken-of-alice")
	_, err = targets.Load("shop.yaml", []byte(text), func(string) (string, bool) { return "http://x", true })
	require.NoError(t, err, text)
}

func TestNothingOfARecordedLoginIsWrittenDown(t *testing.T) {
	t.Parallel()
	login := exchange{line: jsonLogin.line, status: 200, answer: jsonLogin.answer, data: `{"email": "alice@h", "user": "alice-2", "passphrase": "s3same-0pen",
		"otp": "482913", "pin": 90210, "questions": [{"answer": "Rex"}, {"answer": "Lisbon"}], "url": "http://back", "next": "", "remember": true}`}
	d := draftOf(t, login, creates)
	require.Equal(t, map[string]string{
		"/email": "{{.Principal.User}}", "/passphrase": "{{.Principal.Password}}", "/user": "${SHOP_USER_2}", "/otp": "${SHOP_OTP}", "/pin": `{{"${SHOP_PIN}" | json}}`,
		"/questions/0/answer": "${SHOP_ANSWER}", "/questions/1/answer": "${SHOP_ANSWER_2}", "/url": "${SHOP_URL_2}",
	}, d.Login[0].Templates)
	require.Equal(t, map[string]string{
		"SHOP_USER": "alice@h", "SHOP_PASSWORD": "s3same-0pen", "SHOP_USER_2": "alice-2", "SHOP_OTP": "482913", "SHOP_PIN": "90210", "SHOP_ANSWER": "Rex",
		"SHOP_ANSWER_2": "Lisbon", "SHOP_URL_2": "http://back",
	}, d.Given, "the one create signs in as it was recorded")
	require.Len(t, d.Doubts, 1)
	require.Contains(t, d.Doubts[0], "SHOP_OTP, SHOP_PIN, SHOP_ANSWER, SHOP_ANSWER_2, SHOP_URL_2, SHOP_USER_2")

	text, err := drafting.File{Target: "shop", BaseURL: "http://h", Draft: d}.Text()
	require.NoError(t, err)
	for variable, value := range d.Given {
		require.NotContains(t, text, value)
		require.Contains(t, text, "${"+variable+"}")
	}
	loaded, err := targets.Load("shop.yaml", []byte(text), func(name string) (string, bool) {
		value, given := d.Given[name]
		return value, given
	})
	require.NoError(t, err, text)
	sent := loaded.Login[0].Request.Body
	require.Equal(t, "482913", sent["otp"])
	require.Equal(t, `{{"90210" | json}}`, sent["pin"])
}

// TestWhatALoginsPageHidesFromNobodyIsNoSecret holds that a field which the page of the login shows to anybody, such as where it leads, stays as
// it is, and one that is drawn for each page does not.
func TestWhatALoginsPageHidesFromNobodyIsNoSecret(t *testing.T) {
	t.Parallel()
	fields := `<input name="next" type="hidden" value="/admin/"><input name="site" type="hidden" value="main"><input name="ticket" type="hidden" value="LT-42-0123456789abcd">`
	login := exchange{line: jsonLogin.line, status: 200, answer: jsonLogin.answer, data: "user=alice&password=s3same-0pen&next=/admin/&site=main&ticket=LT-42-0123456789abcd&otp=482913"}
	page := exchange{line: "GET http://h/login", status: 200, answer: "<form>" + fields + "</form>"}
	d := draftOf(t, page, login, creates)
	require.Equal(t, map[string]string{
		"/user": "{{.Principal.User}}", "/password": "{{.Principal.Password}}", "/ticket": "{{.Login.Ticket}}", "/otp": "${SHOP_OTP}",
	}, d.Login[len(d.Login)-1].Templates)
	require.ElementsMatch(t, []string{"SHOP_USER", "SHOP_PASSWORD", "SHOP_OTP"}, d.Needed)

	page.sends = map[string]string{"Cookie": "visit=1"}
	d = draftOf(t, page, login, creates)
	require.Equal(t, "${SHOP_SITE}", d.Login[len(d.Login)-1].Templates["/site"], "the page was made for a visitor")
	require.Empty(t, d.Login[len(d.Login)-1].Templates["/next"])
}

func TestWhatIsNoLoginOfTheCreate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before exchange
		doubt  bool
	}{
		"a sign-up":            {before: exchange{line: "POST http://h/register", data: jsonLogin.data, status: 200, answer: jsonLogin.answer}},
		"another host's":       {before: exchange{line: "POST http://sso/session", data: jsonLogin.data, status: 200, answer: jsonLogin.answer}},
		"one that was refused": {before: exchange{line: jsonLogin.line, data: jsonLogin.data, status: 401, answer: jsonLogin.answer}},
		"one of which the recording keeps nothing": {before: exchange{line: jsonLogin.line, data: jsonLogin.data, status: 200, answer: `{}`}, doubt: true},
	} {
		d := draftOf(t, c.before, creates)
		require.Empty(t, d.Login, name)
		require.Equal(t, map[string]string{"Authorization": "Bearer ${SHOP_TOKEN}"}, d.Header, name)
		require.Equal(t, []string{"SHOP_TOKEN"}, d.Needed, name)
		require.Empty(t, d.Principal, name)
		require.Equal(t, c.doubt, len(d.Doubts) == 1 && strings.Contains(d.Doubts[0], "POST /session"), name)
	}
}

func TestATokenOfAPageIsTakenAnew(t *testing.T) {
	t.Parallel()
	page := exchange{line: "GET http://h/cart?step=2", status: 200, gives: map[string]string{"Set-Cookie": "basket=b4sket-17; Path=/"},
		answer: `<html><head><meta name="csrf-token" content="cr0ss-site-token"></head></html>`}
	d := draftOf(t, page, exchange{
		line: "POST http://h/orders", sends: map[string]string{"X-CSRF-Token": "cr0ss-site-token", "cookie": "basket=b4sket-17; theme=dark"}, data: `{"note": "a b"}`, status: 302,
	})
	require.Len(t, d.Prepare, 1)
	require.Equal(t, "/cart?step=2", d.Prepare[0].Path)
	require.Equal(t, drafting.Extract{HTML: `meta[name="csrf-token"]`, Attribute: "content"}, d.Prepare[0].Extract["XCSRFToken"])
	require.Equal(t, map[string]string{"X-CSRF-Token": "{{.Prepared.XCSRFToken}}", "cookie": "basket={{.Prepared.Basket}}"}, d.Header)
	require.Contains(t, d.Doubts[0], "theme")
	require.Empty(t, d.Needed)
}

// TestWhatARecordedPathNamesIsCreatedAhead holds that the create of what a path names, which was recorded before, is a step of each intent.
func TestWhatARecordedPathNamesIsCreatedAhead(t *testing.T) {
	t.Parallel()
	bearer := map[string]string{"Authorization": "Bearer t0ken-of-alice"}
	cart := exchange{line: "POST http://h/carts", sends: bearer, status: 201, answer: `{"id": 7}`}
	named := exchange{line: "POST http://h/carts", sends: bearer, data: `{"note": "my cart", "size": 3}`, status: 201, answer: `{"data": {"id": "c-7"}}`}
	group := exchange{line: "POST http://h/carts/7/groups", sends: bearer, data: `{"title": "for later"}`, status: 201, answer: `{"id": "g1"}`}
	item := func(path string) exchange {
		return exchange{line: "POST http://h" + path, sends: bearer, data: `{"note": "a b"}`, status: 201}
	}
	for path, c := range map[string]struct {
		before []exchange
		want   string
		steps  []string
	}{
		"/carts/7/items":           {[]exchange{cart}, "/carts/{{.Prepared.Cart}}/items", []string{"/carts"}},
		"/carts/c-7/items?x=1":     {[]exchange{named}, "/carts/{{.Prepared.Cart}}/items?x=1", []string{"/carts"}},
		"/carts/7/groups/g1/items": {[]exchange{cart, group}, "/carts/{{.Prepared.Cart}}/groups/{{.Prepared.Group}}/items", []string{"/carts", "/carts/{{.Prepared.Cart}}/groups"}},
		"/carts/8/items":           {[]exchange{cart}, "/carts/8/items", nil},
		"/baskets/7/items":         {[]exchange{cart}, "/baskets/7/items", nil},
	} {
		d := draftOf(t, append(append([]exchange{jsonLogin}, c.before...), item(path))...)
		require.Equal(t, c.want, d.Path)
		var steps []string
		for _, s := range d.Prepare {
			steps = append(steps, s.Path)
			require.Equal(t, map[string]string{"Authorization": "Bearer {{.Login.Token}}"}, s.Header, path)
		}
		require.Equal(t, c.steps, steps, path)
		require.ElementsMatch(t, []string{"SHOP_USER", "SHOP_PASSWORD"}, d.Needed, path)
	}
	d := draftOf(t, jsonLogin, named, item("/carts/c-7/items"))
	require.Equal(t, map[string]string{"/note": "{{.Intent.Reference}}"}, d.Prepare[0].Templates, "another one for each intent")
	require.Equal(t, map[string]drafting.Extract{"Cart": {JSON: "/data/id"}}, d.Prepare[0].Extract)
}

// TestWhatARecordedBodyRefersToIsCreatedAhead holds the same for what a body refers to: by a text that the target has drawn, or by a number in a
// member that is called like the thing.
func TestWhatARecordedBodyRefersToIsCreatedAhead(t *testing.T) {
	t.Parallel()
	cart := exchange{line: "POST http://h/carts", data: `{"note": "my cart"}`, status: 201, answer: `{"id": 4007}`}
	ticket := exchange{line: "POST http://h/tickets", data: `{"purpose": "upload"}`, status: 201, answer: `{"ticket": {"code": "0f3ab2c19d4e5f60"}}`}
	echoing := exchange{line: "POST http://h/drafts", data: `{"ref": "0f3ab2c19d4e5f60"}`, status: 201, answer: `{"id": 1, "ref": "0f3ab2c19d4e5f60"}`}
	for data, c := range map[string]struct {
		before    []exchange
		templates map[string]string
		steps     []string
	}{
		`{"note": "a b", "ticket": "0f3ab2c19d4e5f60"}`: {[]exchange{cart, ticket}, map[string]string{"/ticket": "{{.Prepared.Ticket}}"}, []string{"/tickets"}},
		`{"note": "a b", "of": {"cart_id": 4007}}`:      {[]exchange{cart, ticket}, map[string]string{"/of/cart_id": "{{.Prepared.CartId | json}}"}, []string{"/carts"}},
		`{"note": "a b", "size": 4007}`:                 {[]exchange{cart}, nil, nil},
		`{"note": "a b", "cart": 4008}`:                 {[]exchange{cart}, nil, nil},
		`{"note": "a b", "ref": "0f3ab2c19d4e5f60"}`:    {[]exchange{echoing}, nil, nil},
	} {
		d := draftOf(t, append(slices.Clone(c.before), exchange{line: "POST http://h/uploads", data: data, status: 201, answer: `{"id": 9}`})...)
		var steps []string
		for _, s := range d.Prepare {
			steps = append(steps, s.Path)
		}
		require.Equal(t, c.steps, steps, data)
		for pointer, text := range c.templates {
			require.Equal(t, text, d.Templates[pointer], data)
		}
		if c.steps == nil {
			require.NotContains(t, fmt.Sprint(d.Templates), ".Prepared.", data)
		}
	}
}

// A login creates nothing that is to be found.
func TestALoginIsNoCandidate(t *testing.T) {
	t.Parallel()
	all, err := drafting.ReadHAR(recording(jsonLogin.entry(t), creates.entry(t)))
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, []bool{all[0].LooksCreating(), all[1].LooksCreating()})
}

func TestARedirectNamesTheRow(t *testing.T) {
	t.Parallel()
	row := databases.Landing{
		Table: databases.Table{Name: "orders", Primary: []string{"id"}, Columns: []databases.Column{{Name: "id"}, {Name: "note"}, {Name: "code"}}},
		Row:   map[string]string{"id": "17", "code": "ab-7", "note": "mx0"}, Columns: []string{"note"},
	}
	const start, end = `^(?:https?://[^/?#]+)?`, `(?:[/?#]|$)`
	for location, pattern := range map[string]string{
		"/orders/17":                      start + "/orders/([0-9]+)" + end,
		"http://h/shop/orders/17?new=1":   start + "/shop/orders/([0-9]+)" + end,
		"/orders/17/receipt/8f3a2c91":     start + "/orders/([0-9]+)" + end,
		"/orders/17?token=8f3a2c91#top":   start + "/orders/([0-9]+)" + end,
		"/s/8f3a2c91/v1/17":               start + "/s/[^/?#]+/v1/([0-9]+)" + end,
		"/2026/17":                        start + "/[^/?#]+/([0-9]+)" + end,
		"/17":                             start + "/([0-9]+)" + end,
		"/17/17":                          start + "/[^/?#]+/([0-9]+)" + end,
		"orders/17":                       start + "orders/([0-9]+)" + end,
		"/thanks?token=8f3a2c91&order=17": start + `/thanks\?(?:[^#]*&)?order=([0-9]+)(?:[&#]|$)`,
		"/orders/ab-7":                    start + "/orders/([^/?#&]+)" + end,
		"/login":                          "",
		"/orders/170":                     "",
		"":                                "",
	} {
		p := drafting.Draft{Path: "/orders", Texts: []string{"/note"}}.Prove(drafting.Created{Marker: "m", Status: 303, Location: location, Landings: []databases.Landing{row}})
		require.Equal(t, pattern, p.Named.Pattern, location)
		require.Equal(t, 303, p.Redirect)
		if pattern != "" {
			require.Equal(t, p.Row[p.Identity], p.Named.In(location), location)
		}
	}
}

// What was proven by one Location holds for the next one, and for no page that only speaks of it.
func TestARedirectElsewhereNamesNothing(t *testing.T) {
	t.Parallel()
	row := databases.Landing{
		Table: databases.Table{Name: "orders", Primary: []string{"id"}, Columns: []databases.Column{{Name: "id"}, {Name: "note"}}},
		Row:   map[string]string{"id": "17", "note": "mx0"}, Columns: []string{"note"},
	}
	prove := func(location string) contract.Identity {
		return drafting.Draft{Path: "/orders", Texts: []string{"/note"}}.Prove(drafting.Created{Marker: "m", Status: 303, Location: location, Landings: []databases.Landing{row}}).Named
	}
	for location, says := range map[string]string{
		"/orders/18/receipt/77b1":  "18",
		"http://h:8/orders/18#new": "18",
		"/login?next=/orders/18":   "",
		"/login#/orders/18":        "",
		"/old/orders/18":           "",
		"/orders/18x":              "",
		"/orders/new":              "",
	} {
		require.Equal(t, says, prove("/orders/17/receipt/8f3a2c91").In(location), location)
	}
	for location, says := range map[string]string{
		"/thanks?order=18":                "18",
		"/thanks?a=b&order=18&c=d":        "18",
		"/login?next=/thanks?order=18":    "",
		"/thanks?reorder=18":              "",
		"/thanks?order=18x":               "",
		"/thanks#?order=18":               "",
		"/elsewhere/thanks?order=18":      "",
		"https://h/thanks?order=18#start": "18",
	} {
		require.Equal(t, says, prove("/thanks?order=17").In(location), location)
	}
}

// TestTheIdOfASubmissionIsThatOfItsPage holds that a hidden member of a form, which its page draws for each, is taken from the page.
func TestTheIdOfASubmissionIsThatOfItsPage(t *testing.T) {
	t.Parallel()
	const id = "6a1e1a32-1f0d-4b2e-9d6c-6ed2b1a5f0aa"
	page := exchange{line: "GET http://h/tickets/new", status: 200, answer: `<form><input name="submission" type="hidden" value="` + id + `"><input name="subject"></form>`}
	form := exchange{line: "POST http://h/tickets/new", data: "submission=" + id + "&subject=my+lamp", status: 302}
	d := draftOf(t, page, form)
	require.Len(t, d.Prepare, 1)
	require.Equal(t, "{{.Prepared.Submission}}", d.Templates["/submission"])
	require.Equal(t, "/submission", d.PageMember())
	require.NotContains(t, d.Carrying(), "/submission", "it does not carry the marker")
}

// TestAClientsCookieIsKept holds that a cookie which may be the key of the request is sent beside those that answers have set, and another one
// that no answer has set is not.
func TestAClientsCookieIsKept(t *testing.T) {
	t.Parallel()
	page := exchange{line: "GET http://h/tickets/new", status: 200, gives: map[string]string{"Set-Cookie": "visit=0123456789ab"}, answer: `<form><input name="csrf_token" type="hidden" value="0123456789cd"></form>`}
	form := exchange{line: "POST http://h/tickets/new", sends: map[string]string{"Cookie": "visit=0123456789ab; order_token=77; _ga=GA1.1"}, data: "csrf_token=0123456789cd&subject=my+lamp", status: 302}
	d := draftOf(t, page, form)
	require.Equal(t, "visit={{.Prepared.Visit}}; order_token=${SHOP_ORDER_TOKEN}", d.Header["Cookie"])
	require.Equal(t, []targets.Key{{Key: contract.Key{In: contract.KeyInCookie, Name: "order_token"}}}, d.KeyPlaces())
	with := d.WithKeyIn(d.KeyPlaces()[0])
	require.Equal(t, "visit={{.Prepared.Visit}}", with.Header["Cookie"])
	require.Empty(t, with.Needed)
	drafts, called := drafting.IssuedKeys(d)
	require.Equal(t, []string{"csrf_token of the body"}, called, "and not the cookie of a visit")
	require.Equal(t, "visit={{.Prepared.Visit}}; order_token=${SHOP_ORDER_TOKEN}", drafts[0].KeySteps[0].Header["Cookie"])
	require.Equal(t, map[string]drafting.Extract{"Key": {HTML: `input[name="csrf_token"]`, Attribute: "value"}}, drafts[0].KeySteps[0].Extract)
	require.Equal(t, map[string]drafting.Extract{"Visit": {Cookie: "visit"}}, drafts[0].Prepare[0].Extract)
	require.Equal(t, map[string]drafting.Extract{"Visit": {Cookie: "visit"}, "CsrfToken": {HTML: `input[name="csrf_token"]`, Attribute: "value"}}, d.Prepare[0].Extract, "the draft stays as it is")
}
