package orders

import (
	"context"
	"sync"
)

// turnstile lets one request of each key through at a time, in the memory of this process; the others wait until it is
// through. The zero value is ready. It is safe for concurrent use.
type turnstile struct {
	mu     sync.Mutex
	inside map[string]*passing
}

// passing is a request that is inside, and how those that wait for it are told that it is through.
type passing struct {
	waiting int
	through chan struct{}
}

// enter waits while a request with the same key is inside. It reports whether the caller is inside now: then it must
// leave. A caller that waited is not. The error says that its client has left.
func (t *turnstile) enter(ctx context.Context, key string) (inside bool, err error) {
	t.mu.Lock()
	first := t.inside[key]
	if first == nil {
		if t.inside == nil {
			t.inside = map[string]*passing{}
		}
		t.inside[key] = &passing{through: make(chan struct{})}
		t.mu.Unlock()
		return true, nil
	}
	first.waiting++
	t.mu.Unlock()
	select {
	case <-first.through:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// leave ends a passage, and returns it for whoever tells those that wait.
func (t *turnstile) leave(key string) *passing {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.inside[key]
	delete(t.inside, key)
	return first
}
