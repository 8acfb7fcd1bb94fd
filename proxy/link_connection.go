package proxy

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// linkConnection is one connection of the target on a link, and the one that continues it to toxiproxy.
type linkConnection struct {
	link      *LinkProxy
	near, far *net.TCPConn // to the target; to toxiproxy
	screen    Screen       // nil: nothing reads what the target says

	// guarded by the link's lock
	answered bool // the last bytes were an answer
	begins   bool // the last question begins a transaction
	commits  bool // the last question asks for a commit
	writes   bool // it carries a word by which writes are known
	asked    time.Time
	broken   bool
}

// relay passes bytes on until both directions are done. What the target says are
// questions, and what comes back are answers.
func (p *linkConnection) relay() {
	var both sync.WaitGroup
	both.Go(p.answers)
	p.questions()
	both.Wait()
	_ = p.near.Close()
	_ = p.far.Close()
}

// questions passes on what the target says. The end of it is passed on as an end.
func (p *linkConnection) questions() {
	buffer := make([]byte, chunk)
	for {
		n, err := p.near.Read(buffer)
		if p.stopped(buffer[:n]) {
			return
		}
		var more []byte
		if n > 0 && err == nil {
			more, err = p.hold(p.link.holds(p, buffer[:n]))
		}
		if n > 0 && (more == nil || err == nil) && p.link.passes(p, false, buffer[:n]) {
			_, _ = p.far.Write(append(buffer[:n:n], more...)) // answers will notice
		}
		if err != nil {
			_ = p.far.CloseWrite()
			return
		}
	}
}

// hold keeps a question for a while, and returns what the target says meanwhile: empty, not nil, for nothing. The question of
// a target that hangs up is never asked, which the error tells.
func (p *linkConnection) hold(pause time.Duration) (more []byte, err error) {
	if pause <= 0 {
		return nil, nil
	}
	more = []byte{}
	_ = p.near.SetReadDeadline(time.Now().Add(pause))
	defer p.near.SetReadDeadline(time.Time{})
	buffer := make([]byte, chunk)
	for {
		n, err := p.near.Read(buffer)
		more = append(more, buffer[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return more, nil
		}
		if err != nil {
			return more, err
		}
	}
}

// answers passes on what comes back. What cannot be passed on is read all the same: unread bytes would be stuck in
// toxiproxy, see conn.
func (p *linkConnection) answers() {
	buffer := make([]byte, chunk)
	for {
		n, err := p.far.Read(buffer)
		if n > 0 && p.link.passes(p, true, buffer[:n]) {
			_, _ = p.near.Write(buffer[:n]) // questions will notice
		}
		if err != nil {
			break
		}
	}
	_ = p.near.Close() // as the server has done
}

// breaks resets the connection for the target, and ends it for the other side. It is called with the
// link's lock held.
func (p *linkConnection) breaks() {
	p.broken = true
	resetConn(p.near)
	_ = p.far.CloseWrite()
}

// abandon ends the connection for both sides.
func (p *linkConnection) abandon() {
	_ = p.near.Close()
	_ = p.far.Close()
}
