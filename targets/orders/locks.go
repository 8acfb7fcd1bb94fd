package orders

import "sync"

// locks has a lock for each key, in the memory of this process. The zero value is ready. It is safe for
// concurrent use.
type locks struct{ held sync.Map }

// lock waits until the key is free.
func (l *locks) lock(key string) (unlock func()) {
	mutex, _ := l.held.LoadOrStore(key, new(sync.Mutex))
	mutex.(*sync.Mutex).Lock()
	return mutex.(*sync.Mutex).Unlock
}
