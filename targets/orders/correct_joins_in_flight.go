package orders

import (
	"context"
	"sync"
)

// joinsInFlight lets requests of one key that come at the same time wait for the first of them in memory, and
// then for the unique index.
//
// The map of those that are being executed saves the database the waiting requests. It promises nothing: another
// process has another map, and a new one an empty one. What decides is the index. The first of a key tells those
// who wait by closing a channel, once, and only it does.
type joinsInFlight struct {
	uniqueKey
	flights *flights
}

// flights are the requests that are being executed, by their key.
type flights struct {
	mu   sync.Mutex
	land map[string]chan struct{} // closed when the first of a key has its answer
}

func joinsInFlightDesign() Design {
	return Design{
		Name:     "joins-in-flight",
		Summary:  "requests of one key wait in memory for the first of them, which tells them once; the unique index decides",
		Correct:  true,
		Contract: exactReplay(),
		Key:      requiredKey(),
		schema:   []string{ordersTable, keysTable},
		handler: func(a *api) handler {
			return needKey(joinsInFlight{newUniqueKey(a), newFlights()}.create)
		},
	}
}

func newFlights() *flights { return &flights{land: map[string]chan struct{}{}} }

// begin returns what closes when the first of a key has landed, and whether that is the caller.
func (f *flights) begin(key string) (landed chan struct{}, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if landed = f.land[key]; landed == nil {
		landed, first = make(chan struct{}), true
		f.land[key] = landed
	}
	return landed, first
}

// end closes a flight, and reports whether it was closed already.
func (f *flights) end(key string, landed chan struct{}) (again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.land, key)
	select {
	case <-landed:
		return true
	default:
		close(landed)
		return false
	}
}

func (j joinsInFlight) create(ctx context.Context, req request) (answer, error) {
	landed, first := j.flights.begin(req.Key)
	if first {
		defer j.flights.end(req.Key, landed)
		return j.uniqueKey.create(ctx, req)
	}
	select {
	case <-landed:
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
	return j.uniqueKey.create(ctx, req)
}
