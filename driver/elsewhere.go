package driver

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// sendElsewhere gives a request headers that tell of another client, place and time than
// any other attempt: a phone that changes from Wi-Fi to mobile data. No contract lets them
// make it another request. Headers that the target file names stay as they are. What is
// drawn follows from the attempt's ID, so that each attempt differs, and each in the same
// way again. The parts of a form are divided by another boundary, as clients draw one for
// each request (RFC 2046, section 5.1.1), unless by the contract bytes count.
func sendElsewhere(r *targets.Rendered, id string, at time.Time, mode contract.FingerprintMode) {
	sum := sha256.Sum256([]byte(id))
	address := fmt.Sprintf("203.0.113.%d", 1+sum[16]%254) // for documentation (RFC 5737)
	for name, value := range map[string]string{
		"User-Agent":      fmt.Sprintf("doubletap/%d.%d (%x)", sum[17], sum[18], sum[19:21]),
		"Accept-Encoding": fmt.Sprintf("identity;q=0.%d", 1+sum[21]%9), // which encodes nothing, either
		"Date":            at.UTC().Format(http.TimeFormat),
		"Forwarded":       "for=" + address,
		"X-Forwarded-For": address,
		"Traceparent":     fmt.Sprintf("00-%x-%x-01", sum[:16], sum[22:30]),
	} {
		if !named(r.Header, name) {
			r.SetOwnHeader(name, value)
		}
	}
	if mode != contract.FingerprintBytes {
		r.DivideBy(fmt.Sprintf("doubletap-%x", sum[:8]))
	}
}

// named reports that a header is there, in whatever case.
func named(header map[string]string, name string) bool {
	for other := range header {
		if strings.EqualFold(other, name) {
			return true
		}
	}
	return false
}

// reversed returns a request of HTTP/1.1 with its headers in reverse order, which means the same (RFC 9110, section 5.3):
// no name is there twice.
func reversed(text []byte) []byte {
	head, body, _ := bytes.Cut(text, []byte("\r\n\r\n"))
	lines := bytes.Split(head, []byte("\r\n"))
	slices.Reverse(lines[1:])
	return slices.Concat(bytes.Join(lines, []byte("\r\n")), []byte("\r\n\r\n"), body)
}
