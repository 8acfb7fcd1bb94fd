package proxy

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// aloneTries is how often an address is tried that may not be there.
const aloneTries = 3

// listenAlone listens on a free port at a loopback address that nobody else is likely to use. At 127.0.0.1 a client of a server that is
// gone may find the port in use again, by us, and what it sends would be taken for ours. All of 127.0.0.0/8 is this machine on Linux (RFC 1122, section
// 3.2.1.3); where it is not, 127.0.0.1 has to do.
func listenAlone() (net.Listener, error) {
	for range aloneTries {
		address := fmt.Sprintf("127.%d.%d.%d:0", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
		if listener, err := net.Listen("tcp", address); err == nil {
			return listener, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}
