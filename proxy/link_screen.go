package proxy

// Screen reads what a target says on one connection of a link. It returns how many bytes of that are passed on. Held: the rest never is, and
// the connection is broken when held is closed; nil: all is passed on.
type Screen func(said []byte) (pass int, held <-chan struct{})

// Screen has each connection from now on read by a Screen of its own, which begin returns.
func (l *LinkProxy) Screen(begin func() Screen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.screen = begin
}

// stopped reports whether the connection's screen holds something of what a target says. Then the connection is broken already: what comes
// before was passed on, and what comes behind is lost.
func (p *linkConnection) stopped(said []byte) bool {
	if p.screen == nil {
		return false
	}
	n, held := p.screen(said)
	if held == nil {
		return false
	}
	if n > 0 && p.link.passes(p, false, said[:n]) {
		_, _ = p.far.Write(said[:n]) // answers will notice
	}
	// Read on until the target leaves: else its writes would block, and it could not
	// notice.
	left := make(chan struct{})
	go func() {
		defer close(left)
		buffer := make([]byte, chunk)
		for {
			if _, err := p.near.Read(buffer); err != nil {
				return
			}
		}
	}()
	select {
	case <-held:
	case <-left:
	}
	p.link.mu.Lock()
	p.breaks()
	p.link.mu.Unlock()
	<-left
	return true
}
