package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// The services outside that designs send something to. The one for payments knows its requests by their keys; the one that
// ships parcels sends one for each request.
const (
	payments = "payments"
	shipping = "shipping"
	billing  = "billing"  // payments, by the ids of orders alone
	partners = "partners" // payments and parcels, which knows its requests by their keys
)

// services are what a run puts in place of them.
func services() map[string]targets.Sink {
	created := func(path, prefix string) targets.SinkAnswer {
		return targets.SinkAnswer{Method: http.MethodPost, Path: path, Status: http.StatusCreated, Body: map[string]any{"id": prefix + "{{.ID}}"}}
	}
	key := targets.SinkKey{In: contract.KeyInHeader, Name: keyHeader}
	return map[string]targets.Sink{
		payments: {HTTP: &targets.HTTPSink{Key: key, Idempotent: true, Answers: []targets.SinkAnswer{created("/charges", "ch_"), created("/refunds", "re_")}}},
		shipping: {HTTP: &targets.HTTPSink{Key: key, Answers: []targets.SinkAnswer{created("/parcels", "pa_")}}},
		billing: {HTTP: &targets.HTTPSink{
			Key: key, Intent: targets.SinkKey{In: contract.KeyInBody, Name: "/order"}, Idempotent: true, Answers: []targets.SinkAnswer{created("/charges", "ch_")},
		}},
		partners:   {HTTP: &targets.HTTPSink{Key: key, Idempotent: true, Answers: []targets.SinkAnswer{created("/charges", "ch_"), created("/parcels", "pa_")}}},
		mailServer: {SMTP: &targets.SMTPSink{Idempotent: true}},
	}
}

// oneCharge and oneParcel are what an order has besides its row.
func oneCharge() contract.Effect {
	return contract.Effect{Name: "charge", Seen: payments, Where: contract.Where{Method: http.MethodPost, Path: "/charges"}}
}

func oneParcel() contract.Effect {
	return contract.Effect{Name: "parcel", Seen: shipping, Where: contract.Where{Method: http.MethodPost, Path: "/parcels"}}
}

// sinks are the services that the effects of a design are seen at.
func (d Design) sinks() map[string]targets.Sink {
	all, known := map[string]targets.Sink{}, services()
	maps.Copy(known, brokers())
	for _, e := range d.effects {
		if e.Seen != "" {
			all[e.Seen] = known[e.Seen]
		}
	}
	return all
}

// outside is the API's client of a service outside. It asks once, on a connection of its own, so that nothing is asked again
// unseen.
type outside struct {
	url    string // empty: nothing is asked, and everything counts as done
	client *http.Client
}

func newOutside() *outside {
	return &outside{client: &http.Client{Timeout: dependencyPatience, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// charge has the payment for an order taken under a key. A quote costs nothing. After an error it is unknown whether it was taken.
func (s *outside) charge(ctx context.Context, key string, o order) (charge, error) {
	if o.Kind == kindQuote {
		return charge{ID: "none"}, nil
	}
	return s.ask(ctx, "/charges", key, map[string]any{"amount": o.Amount, "metadata": map[string]string{"order": o.Note}})
}

// chargeByID is charge with nothing of the order but its id and its amount.
func (s *outside) chargeByID(ctx context.Context, key string, o order) (charge, error) {
	if o.Kind == kindQuote {
		return charge{ID: "none"}, nil
	}
	return s.ask(ctx, "/charges", key, map[string]any{"amount": o.Amount, "order": o.ID})
}

// refund has the payment for an order given back under a key.
func (s *outside) refund(ctx context.Context, key string, o order) error {
	if o.Kind == kindQuote {
		return nil
	}
	_, err := s.ask(ctx, "/refunds", key, map[string]any{"metadata": map[string]string{"order": o.Note}})
	return err
}

// ship has a parcel sent for an order, and none for a quote.
func (s *outside) ship(ctx context.Context, o order) error { return s.shipOnce(ctx, "", o) }

// shipOnce is ship under a key; an empty one is none.
func (s *outside) shipOnce(ctx context.Context, key string, o order) error {
	if o.Kind == kindQuote {
		return nil
	}
	_, err := s.ask(ctx, "/parcels", key, map[string]string{"item": o.Item, "reference": o.Note})
	return err
}

func (s *outside) ask(ctx context.Context, path, key string, body any) (charge, error) {
	if s.url == "" {
		return charge{ID: newID("none_")}, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(mustJSON(body)))
	if err != nil {
		return charge{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set(keyHeader, key)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return charge{}, fmt.Errorf("ask the service outside: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return charge{}, fmt.Errorf("ask the service outside: %w", err)
	}
	var made charge
	if err := json.Unmarshal(text, &made); err != nil || made.ID == "" {
		return charge{}, fmt.Errorf("ask the service outside: it says %s", resp.Status)
	}
	return made, nil
}

// ordered is the order of a request with the kind that it is to have.
func ordered(req request) order {
	o := req.Order
	o.Kind = req.Kind
	return o
}
