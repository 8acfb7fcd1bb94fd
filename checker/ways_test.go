package checker_test

import (
	"testing"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// byOtherWay sends an attempt to the operation that makes the same.
func byOtherWay(a history.Attempt) history.Attempt { a.Body = history.OtherWay; return a }

// waysTo is a history whose other way goes to a path, and names what it made in a place of its own.
func waysTo(path string, d *draft) *history.History {
	h := scene(d.under("/orders"))
	for _, i := range h.Intents {
		own := i.Bodies[history.Original]
		other := own
		other.Path, other.Operation = path, "by_body"
		if path != own.Path {
			other.Content = `{"amount":1300}`
		}
		i.Bodies[history.OtherWay] = other
	}
	return h
}

func twoWays(t *checker.Terms) {
	t.Others = map[string]contract.Operation{"by_body": {
		Key:      contract.Key{In: contract.KeyInBody, Name: "key"},
		Identity: contract.Identity{JSON: "/order/id"}, Rows: t.Operation.Rows,
	}}
}

// An intent has one row, by whichever of its ways it is sent.
func TestTwoWaysMakeOne(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	other := func(id string) history.Attempt { return byOtherWay(answer(200, `{"order":{"id":"`+id+`"}}`)) }
	for _, c := range []struct {
		name  string
		path  string
		story *draft
		want  []string
	}{
		{"one row, each way in its own form", "/orders", story(a, other("o1")).rows(1), nil},
		{"one row, the other way first", "/v1/orders", story(other("o1"), a).rows(1), nil},
		{"the other way made the row, from a body of its own", "/v1/orders", story(other("o1"), a).holding("o1"), nil},
		{"a row by each way", "/orders", story(a, other("o2")).rows(2), []string{"duplicate"}},
		{"a row by each way, at once", "/orders", story(during(10, 20, a), during(11, 21, other("o2"))).rows(2), []string{"duplicate"}},
		{"the second way names another thing", "/orders", story(a, other("o7")).rows(1), []string{"replay-mismatch/identity"}},
		{"refused as another, for the place of the key", "/orders", story(a, byOtherWay(mismatch())).rows(1), []string{"false-conflict/other-way"}},
		{"refused the other way round", "/orders", story(other("o1"), mismatch()).rows(1), []string{"false-conflict/other-way"}},
		{"refused where the paths differ, too", "/v1/orders", story(a, byOtherWay(mismatch())).rows(1), nil},
		{"what the other way acknowledged is not there", "/orders", story(other("o1")), []string{"lost-acknowledged-write"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			judge(t, waysTo(c.path, c.story), terms(twoWays), c.want, "")
		})
	}
}

// A way that names what it made by another column is not compared with it.
func TestAWayMayNameTheRowInAnotherWay(t *testing.T) {
	t.Parallel()
	byNumber := func(t *checker.Terms) {
		twoWays(t)
		o := t.Others["by_body"]
		o.Rows.Identity = "number"
		t.Others["by_body"] = o
	}
	second := byOtherWay(answer(200, `{"order":{"id":"17"}}`))
	judge(t, waysTo("/v1/orders", story(acknowledged(201, "o1"), second).rows(1)), terms(byNumber), nil, "")
}
