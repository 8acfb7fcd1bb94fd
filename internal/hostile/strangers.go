package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
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
	for name, send := range map[string]func(place string) error{
		"40 MB of paths for each create": func(place string) error {
			for i := range 40 {
				if err := post(fmt.Sprintf("http://%s/%d/%s", place, i, strings.Repeat("p", 900_000)), nil); err != nil {
					return err
				}
			}
			return nil
		},
		"a bomb for each create": func(place string) error { return post("http://"+place+"/charges", bomb()) },
		"base64 within base64":   func(place string) error { return post("http://"+place+"/charges", bytes.Repeat([]byte("ZFhZ"), 1<<20)) },
		"another protocol": func(place string) error {
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
			s, err := openShop(b, func(http.ResponseWriter, *http.Request) bool {
				_ = send(place) // the sink may refuse it
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

func post(address string, body []byte) error {
	answer, err := http.Post(address, "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
