package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// daysOfCatalogues have init read a database whose table an enemy has named, and play what it writes, the second time where a process that the
// file did not have would be started.
func daysOfCatalogues() []day {
	var days []day
	for _, s := range spells {
		if len(s.text) > 1000 { // no database has such a name
			continue
		}
		days = append(days, day{class: "catalogues", name: "a table called " + s.name, exits: []int{0, 1, 2, 3, 4}, says: "made.yaml: ok", set: func(_ context.Context, b *bench) error {
			shop, err := openShopWith(b, "things"+strings.ReplaceAll(s.text, "\x00", ""), nil)
			if err != nil {
				return err
			}
			b.env = append(b.env, "DATABASE_URL=sqlite://"+shop.file)
			b.shell = `"$0" init --yes --curl "curl -H 'Idempotency-Key: 1' -d '{\"note\": \"x\", \"amount\": 1}' ` + shop.url + `/things" --db "$DATABASE_URL" -o made.yaml || exit
"$0" validate made.yaml && { "$0" run --target made.yaml --seed 1 plain-create; API_URL=http://127.0.0.1:0 "$0" run --target made.yaml plain-create; }`
			return nil
		}})
	}
	return days
}

// daysOfDocuments have init read an OpenAPI document in which an enemy has named everything, and play what it writes, the second time
// where a process that the file did not have would be started, and export what that shows.
func daysOfDocuments() []day {
	var days []day
	for _, s := range spells {
		days = append(days, day{class: "documents", name: "an OpenAPI document with " + s.name, exits: []int{0, 3}, says: "made.yaml|neither YAML nor JSON", set: func(_ context.Context, b *bench) error {
			shop, err := openShop(b, nil)
			if err != nil {
				return err
			}
			text, err := json.Marshal(documentOf(shop.url, s.text))
			if err == nil {
				_, err = b.write("openapi.json", string(text))
			}
			b.shell = `for try in 1 2 3; do
  said=$("$0" init --yes --openapi openapi.json --url ` + shop.url + ` --db sqlite://` + shop.file + ` -o made.yaml 2>&1); [ ! -f made.yaml ] || break
  for name in $(echo "$said" | grep -o '[A-Z][A-Z0-9]*_[A-Z0-9_]*'); do export "$name=secret"; done
done
printf '%s\n' "$said"
[ -f made.yaml ] || exit 3
export DATABASE_URL=sqlite://` + shop.file + `
"$0" validate made.yaml; "$0" explain --target made.yaml
"$0" run --target made.yaml --seed 1 plain-create; API_URL=http://127.0.0.1:0 "$0" run --target made.yaml plain-create; exit 0`
			return err
		}})
	}
	return days
}

// documentOf describes a shop with a text in every name, and in every value that an author may write. The names of headers have none,
// and their values no line breaks: those are refused.
func documentOf(address, text string) any {
	type object = map[string]any
	schema := object{"type": "object", "required": []string{"note", "amount", text}, "title": text, "description": text, "properties": object{
		"note": object{"type": "string", "example": text}, "amount": object{"type": "integer", "example": 1}, text: object{"type": "string", "default": text, "enum": []string{text}},
	}}
	return object{
		"openapi": "3.0.3", "info": object{"title": text, "version": text, "description": text},
		"servers":    []object{{"url": address, "description": text, "variables": object{text: object{"default": text}}}, {"url": "http://127.0.0.1/" + text}},
		"security":   []object{{text: []string{}}, {"basic" + text: []string{}}},
		"components": object{"securitySchemes": object{text: object{"type": "apiKey", "in": "header", "name": "X-Shop"}, "basic" + text: object{"type": "http", "scheme": "bearer", "bearerFormat": text}}},
		"paths": object{"/things": object{"post": object{
			"operationId": "create" + text, "summary": text, "tags": []string{text},
			"parameters": []object{
				{"name": "Idempotency-Key", "in": "header", "required": true, "schema": object{"type": "string", "example": text}},
				{"name": "X-Tenant", "in": "header", "required": true, "schema": object{"type": "string", "example": strings.ReplaceAll(text, "\n", " ")}},
				{"name": "q" + text, "in": "query", "required": true, "schema": object{"type": "string", "example": text}},
			},
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": schema, "examples": object{text: object{"value": object{"note": text, "amount": 1, text: text}}}}}},
			"responses":   object{"201": object{"description": text, "content": object{"application/json": object{"schema": object{"type": "object", "properties": object{"id": object{"type": "integer", "example": text}, text: object{"type": "string"}}}}}}},
		}}},
	}
}

// daysOfListings are those of a target that lists rows as no target should. None of them may pass.
func daysOfListings() []day {
	var days []day
	for name, page := range map[string]func(r *http.Request) []byte{
		"objects in one another": func(*http.Request) []byte {
			return []byte(`{"items": [` + strings.Repeat(`{"a": 1, "b": `, 9000) + "1" + strings.Repeat("}", 9000) + `]}`)
		},
		"rows of nothing": func(*http.Request) []byte { return []byte(`{"items": [` + strings.Repeat("{},", 250_000) + `{}]}`) },
		"pages without an end": func(r *http.Request) []byte {
			return []byte(`{"items": [{"id": "` + strings.Repeat("x", 900_000) + `"}], "next": "` + r.URL.Path + `?note=a` + r.URL.RawQuery[:min(len(r.URL.RawQuery), 200)] + `"}`)
		},
		"a page on another host": func(*http.Request) []byte { return []byte(`{"items": [], "next": "http://192.0.2.1/` + pwned + `"}`) },
		"no JSON":                func(*http.Request) []byte { return bytes.Repeat([]byte("["), 100_000) },
		"a text for a terminal": func(*http.Request) []byte {
			return []byte(`{"items": [{"id": "\u001b]0;` + pwned + `\u0007", "\u202e": "::error::` + pwned + `"}]}`)
		},
	} {
		days = append(days, day{class: "listings", name: name, exits: []int{1, 2, 3, 4}, set: func(_ context.Context, b *bench) error {
			s, err := openShop(b, func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet {
					_, _ = w.Write(page(r))
				}
				return r.Method == http.MethodGet
			})
			if err != nil {
				return err
			}
			return s.runAt(b, `database: {url: "sqlite://DATABASE"}`, "", `rows: {query: "QUERY", identity: id}`, `rows: {http: {path: "/list?note={{.Intent.Marker}}"}, items: /items, next: /next, identity: id}`)
		}})
	}
	return days
}

// daysOfSinks are those of a target that sends to a sink what no target should.
func daysOfSinks() []day {
	var days []day
	var charged sync.Map
	for name, send := range map[string]func(place, marker string) error{
		"a second charge behind 5 MB": func(place, marker string) error {
			if _, known := charged.LoadOrStore(marker, true); known {
				return nil
			}
			return errors.Join(charge(place, marker), charge(place, strings.Repeat(" ", 5_000_000)+marker))
		},
		"40 MB of paths for each create": func(place, _ string) error {
			for i := range 40 {
				if err := post(fmt.Sprintf("http://%s/%d/%s", place, i, strings.Repeat("p", 900_000)), nil); err != nil {
					return err
				}
			}
			return nil
		},
		"a bomb for each create": func(place, _ string) error { return post("http://"+place+"/charges", bomb()) },
		"base64 within base64": func(place, _ string) error {
			return post("http://"+place+"/charges", bytes.Repeat([]byte("ZFhZ"), 1<<20))
		},
		"another protocol": func(place, _ string) error {
			c, err := net.Dial("tcp", place)
			if err != nil {
				return err
			}
			_, err = c.Write([]byte("EHLO \x1b]0;" + pwned + "\x07\r\n"))
			return errors.Join(err, c.Close())
		},
	} {
		days = append(days, day{class: "sinks", name: name, exits: []int{1, 2, 3, 4}, set: func(_ context.Context, b *bench) error {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			place := listener.Addr().String()
			_ = listener.Close()
			s, err := openShop(b, func(_ http.ResponseWriter, r *http.Request) bool {
				text, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(text))
				_ = send(place, markers.FindString(string(text))) // the sink may refuse it
				return false
			})
			if err != nil {
				return err
			}
			return s.runAt(b, "MORE", "sinks: {payments: {listen: \""+place+"\", http: {}}}", "identity: id}", "identity: id}\n    effects: [{name: charge, seen: payments}]")
		}})
	}
	return days
}

var markers = regexp.MustCompile("dt[a-z0-9]{16}")

// charge asks a sink for a payment, as the target would.
func charge(place, marker string) error {
	return post("http://"+place+"/charges", []byte(`{"order": "`+marker+`"}`))
}

// post sends bytes, and passes the answer over.
func post(address string, body []byte) error {
	answer, err := http.Post(address, "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
