package orders

import "context"

// diesOnOverlap lets every request of a key tell those who wait.
//
// Each request that joins a flight lands it when it is done. For one request that is right, and for two that come
// one after the other, too. Of two that overlap, the second closes a channel that is closed, outside of the handler,
// where nobody recovers: the process ends, and takes with it whatever else it was doing. It is started again, the
// index has kept every order single, and the log is all that tells of it.
type diesOnOverlap struct{ joinsInFlight }

func diesOnOverlapDesign() Design {
	d := joinsInFlightDesign()
	d.Name, d.Correct = "dies-on-overlap", false
	d.Summary = "every request of a key tells those who wait for the first: of two at once, the second ends the process"
	d.Twin = "joins-in-flight"
	d.Shows, d.By = []string{"target-died"}, []string{"burst-same-key", "double-click", "sweep"}
	d.Instances = 1
	d.handler = func(a *api) handler {
		return needKey(diesOnOverlap{joinsInFlight{newUniqueKey(a), newFlights()}}.create)
	}
	return d
}

func (d diesOnOverlap) create(ctx context.Context, req request) (answer, error) {
	landed, _ := d.flights.begin(req.Key)
	reply, err := d.uniqueKey.create(ctx, req)
	if d.flights.end(req.Key, landed) { // before the answer: a request that comes after it meets nobody
		d.later(func() {
			d.die("panic: close of closed channel\n\ngoroutine 7 [running]:\nmain.(*flights).end(...)\n\t/srv/orders/flights.go:31 +0x1d")
		})
	}
	return reply, err
}
