package proxy

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// loneHost returns a loopback address that nobody else is likely to use. At 127.0.0.1 a client of a server that is gone may find the
// port in use again, by us, and what it sends would be taken for ours. All of 127.0.0.0/8 is this machine on Linux (RFC 1122,
// section 3.2.1.3); where it is not, 127.0.0.1 has to do.
func loneHost() string {
	if !manyHosts() {
		return "127.0.0.1"
	}
	return fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
}

// manyHosts reports that a server may listen at other addresses of 127.0.0.0/8.
var manyHosts = sync.OnceValue(func() bool {
	listener, err := net.Listen("tcp", "127.213.77.5:0")
	if err != nil {
		return false
	}
	_ = listener.Close()
	return true
})
