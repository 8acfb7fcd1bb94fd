package proxy

import (
	"net"
	"sync"
	"time"
)

// linkConnection is one connection of the target on a link, and the one that continues it to toxiproxy.
type linkConnection struct {
	link      *LinkProxy
	near, far *net.TCPConn // to the target; to toxiproxy

	// guarded by the link's lock
	answered bool // the last bytes were an answer
	commits  bool // the last question asks for a commit
	asked    time.Time
	broken   bool
}

// relay passes bytes on until both directions are done.
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
		if n > 0 && p.link.passes(p, false, buffer[:n]) {
			_, _ = p.far.Write(buffer[:n]) // answers will notice
		}
		if err != nil {
			_ = p.far.CloseWrite()
			return
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
