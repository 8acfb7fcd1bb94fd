package orders

import (
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// Target describes the server to the harness.
func (s *Server) Target() targets.Target {
	t := s.design.target(s.api.effort)
	t.BaseURL, t.Database.URL = s.url, s.store.url
	if s.redis != nil {
		t.Sinks = targets.InStore(t.Sinks, s.redis.prefix)
		t.Store = targets.Store{URL: s.redis.url, Flush: s.redis.prefix + "*"}
	}
	if s.store.db.dialect != dialectSQLite { // whose link makes any target's requests take long
		for name, o := range t.Operations {
			o.Work = nil
			t.Operations[name] = o
		}
	}
	return t
}

// Describe describes a server of a design to the harness, but for where it is, and lists the databases that
// the design is built for; none: each.
func Describe(design string) (t targets.Target, on []string, err error) {
	d, err := find(design)
	if err != nil {
		return targets.Target{}, nil, err
	}
	return d.target(defaultWork), d.On, nil
}

func (d Design) target(effort time.Duration) targets.Target {
	settle := effort + 500*time.Millisecond
	if d.Dependency || len(d.sinks()) > 0 {
		settle += dependencyPatience
	}
	operations := map[string]targets.Operation{
		kindOrder.operation(): d.operation(kindOrder),
		kindQuote.operation(): d.operation(kindQuote),
	}
	if d.ways != nil {
		maps.Copy(operations, d.ways(operations[kindOrder.operation()]))
	}
	return targets.Target{
		Name:       "builtin:" + d.Name,
		Database:   targets.Database{WriteGate: &targets.WriteGate{Tables: []string{"orders"}, Longest: longestHold}},
		Sinks:      d.sinks(),
		Contract:   d.Contract,
		Principals: d.principals(),
		Settle:     contract.Duration(settle),
		Received:   &targets.Received{Path: "/-/received", Pointer: "/received"},
		Operations: operations,
	}
}

// longestHold is for how long the writers of the orders may be held back: all of the designs are more
// patient with their database.
const longestHold = contract.Duration(300 * time.Millisecond)

// principals are two customers, or two guests who have not signed in.
func (d Design) principals() map[string]targets.Principal {
	all := map[string]targets.Principal{}
	for _, name := range []string{"alice", "bob"} {
		if d.accounts == guests {
			all[name] = targets.Principal{"Session": name + "-session"}
		} else {
			all[name] = targets.Principal{"Token": name + "-token"}
		}
	}
	return all
}

func (d Design) operation(of kind) targets.Operation {
	header := map[string]string{"Authorization": "Bearer {{.Principal.Token}}"}
	if d.accounts == guests {
		header = map[string]string{sessionHeader: "{{.Principal.Session}}"}
	}
	o := targets.Operation{
		Request: targets.Request{
			Method: http.MethodPost,
			Path:   of.collection(),
			Header: header,
			Body: map[string]any{
				"note": "{{.Intent.Marker}}", "reference": "{{.Intent.Reference}}", "item": "lamp", "amount": 1200,
			},
		},
		Key:      d.Key,
		Alter:    map[string]any{"amount": 9900},
		Invalid:  map[string]any{"amount": -1},
		Work:     &targets.Work{Header: map[string]string{string(workHeader): "{{.Intent.Work}}"}},
		Identity: contract.Identity{JSON: "/id"},
		Rows: contract.Rows{
			Query:    fmt.Sprintf("select id, note, amount from orders where note = :marker and kind = '%s'", of),
			Identity: "id",
			Content:  map[string]string{"amount": "/amount"},
		},
	}
	if d.accounts != guests {
		o.Request.Credential = []string{"Authorization"}
	}
	if of == kindOrder {
		o.Effects = d.effects
	}
	if d.describe != nil {
		d.describe(&o, of)
	}
	return o
}
