package targets

import (
	"maps"
	"net"
	"slices"
	"strconv"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// links finds addresses that cannot be used, or that two links share.
func (v *validator) links() {
	listens := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(v.target.Links)) {
		link := v.target.Links[name]
		listen, to := jsonpointer.Of("links", name, "listen"), jsonpointer.Of("links", name, "to")
		for place, address := range map[string]string{listen: link.Listen, to: link.To} {
			if !isAddress(address) {
				v.addMistake(place, "expected a host and a port such as 127.0.0.1:15432, got %s", v.doc.Shown(place))
			}
		}
		if host, _, err := net.SplitHostPort(link.Listen); err == nil && host != "" && !isLoopback(host) && !slices.Contains(v.target.AllowHosts, host) {
			v.addMistake(listen, "others than this machine would be let in to what is behind %s; listen at 127.0.0.1, or list the host in allow_hosts", v.doc.Shown(listen))
		}
		switch first := listens[link.Listen]; {
		case link.Listen == link.To:
			v.addMistake(to, "a link that leads to where it listens goes round in circles")
		case first != "":
			v.addMistake(listen, "the link %s listens here already", first)
		default:
			listens[link.Listen] = name
		}
	}
}

// isAddress reports whether a text is a host and a port that can be dialled.
func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	n, notANumber := strconv.ParseUint(port, 10, 16)
	return err == nil && notANumber == nil && host != "" && n > 0
}
