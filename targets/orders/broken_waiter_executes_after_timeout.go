package orders

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// waiterExecutesAfterTimeout waits for the holder of the key, but not for ever.
//
// A repeat waits for the answer of the request that came first, as it should. If that takes too long,
// the holder must have died: its claim would block the key for ever, so the one who waited does the
// work itself. But "too long" is shorter than the work can take, and the holder is only slow. In a
// burst they all lose their patience at the same moment.
type waiterExecutesAfterTimeout struct {
	*api
	patience time.Duration
}

const (
	waiterPatience = 10 * time.Millisecond
	waiterPause    = 2 * time.Millisecond
)

func waiterExecutesAfterTimeoutDesign() Design {
	return Design{
		Name:     "waiter-executes-after-timeout",
		Summary:  "waits 10ms for the request that holds the key, then takes it for dead and makes the order itself",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "unique-key",
		Shows:    []string{"duplicate"},
		By:       []string{"burst-same-key", "tabs-one-key", "enter-plus-click"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(waiterExecutesAfterTimeout{a, waiterPatience}.create) },
	}
}

// patientWaiterExecutesDesign is waiter-executes-after-timeout with more patience, which short work never needs.
func patientWaiterExecutesDesign() Design {
	return Design{
		Name:     "patient-waiter-executes",
		Summary:  "waits 500ms for the request that holds the key, then takes it for dead and makes the order itself",
		Contract: exactReplay(),
		Key:      requiredKey(),
		Twin:     "waiters-told",
		Shows:    []string{"duplicate"},
		By:       []string{"long-work"},
		schema:   []string{ordersTable, keysTable},
		handler:  func(a *api) handler { return needKey(waiterExecutesAfterTimeout{a, patientlyWaited}.create) },
	}
}

// patientlyWaited is more than the work takes on a usual day.
const patientlyWaited = 500 * time.Millisecond

// patiently claims, and waits for who holds the key meanwhile: for so long at most.
func patiently(patience time.Duration, claim func() (answer, error)) (answer, error) {
	refusal, err := claim()
	for end := time.Now().Add(patience); refusal.Status == http.StatusConflict && time.Now().Before(end); {
		time.Sleep(waiterPause)
		refusal, err = claim()
	}
	return refusal, err
}

func (w waiterExecutesAfterTimeout) create(ctx context.Context, req request) (answer, error) {
	ctx = context.WithoutCancel(ctx)
	refusal, err := patiently(w.patience, func() (answer, error) { return w.claim(ctx, req) })
	if err != nil || refusal.Status != 0 && refusal.Status != http.StatusConflict {
		return refusal, err
	}
	reply, err := w.executeClaimed(ctx, req)
	if err != nil {
		return answer{}, errors.Join(err, w.db.releaseKey(ctx, req))
	}
	return reply, nil
}
