package drafting

import (
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// Signature is how a request is signed, and what was recorded of one that was.
type Signature struct {
	targets.Sign
	recorded recordedSignature
}

// recordedSignature is a signature with all that it may be of.
type recordedSignature struct {
	request Request
	value   string // of its header, without what stands behind the signature
	version string // that stands in front of it; empty: none does
	stamp   string // its time; empty: it has none
}

// mostSigned is how many bytes of bodies are signed to find out what a signature is of: some seconds. It cuts short only what is looked for with a
// body of more than 20 kB.
const mostSigned = 512 << 20

// ProveSignature looks for what gives the recorded signature with its secret, and reports whether that is known now: which parts of the
// request are signed, in which order, what joins them, and what the secret stands for. A guess that is right stays. If nothing gives it, the
// doubt says so.
func ProveSignature(d *Draft, secret string) bool {
	s := d.Sign
	if s == nil || s.recorded.value == "" {
		return false
	}
	doubt := slices.Index(d.Doubts, s.doubt())
	var parts []string
	request, key := s.recorded.request, s.recorded.key(d.Key)
	if request.Text != "" {
		parts = append(parts, "{{.Body}}")
	}
	parts = append(parts, "{{.Path}}", "{{.Method}}")
	if s.recorded.stamp != "" {
		parts = append(parts, "{{.Time}}")
	}
	if key != "" {
		parts = append(parts, "{{.Key}}")
	}
	as := targets.Rendered{Method: request.Method, Path: request.URL.RequestURI(), Body: []byte(request.Text), Signer: secret}
	gives := func(over string, written targets.Encoding) bool {
		try := s.Sign
		try.Over, try.Written = over, written
		value, err := try.Value(as, "", key, s.recorded.stamp)
		return err == nil && strings.EqualFold(value, s.recorded.value)
	}
	left := mostSigned
	for _, over := range append([]string{s.Over}, signedTexts(parts, s.recorded.version)...) {
		for _, written := range []targets.Encoding{"", targets.EncodingBase64, targets.EncodingHex} {
			if left -= len(request.Text); left >= 0 && gives(over, written) {
				s.Over, s.Written = over, written
				if doubt >= 0 {
					d.Doubts = slices.Delete(slices.Clone(d.Doubts), doubt, doubt+1)
				}
				return true
			}
		}
	}
	s.recorded.value = "" // once is enough
	if doubt >= 0 && left >= 0 {
		d.Doubts = slices.Clone(d.Doubts)
		d.Doubts[doubt] = "What " + s.Header + " signs: with the secret in " + s.Secret + " no order of body, path, method, time and key gives the recorded one. Is it another secret, or a request that was changed? If the target refuses what " +
			"request.sign gives, mend that."
	}
	return false
}

// key is that of the recorded request, if a header has it.
func (r recordedSignature) key(of targets.Key) string {
	if of.In != contract.KeyInHeader {
		return ""
	}
	for _, h := range r.request.Header {
		if strings.EqualFold(h[0], of.Name) {
			return h[1]
		}
	}
	return ""
}

// signedTexts are the templates of what may be signed: each choice of the parts, in each order, with each usual joint, the shortest first;
// then the same behind a version.
func signedTexts(parts []string, version string) []string {
	var orders [][]string
	last := [][]string{nil}
	for range parts {
		var longer [][]string
		for _, order := range last {
			for _, part := range parts {
				if !slices.Contains(order, part) {
					longer = append(longer, append(slices.Clone(order), part))
				}
			}
		}
		orders, last = append(orders, longer...), longer
	}
	firsts := [][]string{nil}
	if version != "" {
		firsts = append(firsts, []string{version})
	}
	var all []string
	for _, first := range firsts {
		for _, order := range orders {
			order = slices.Concat(first, order)
			for _, joint := range []string{".", "", ":", "\n", "|", ",", "-", "+", "&"} {
				if all = append(all, strings.Join(order, joint)); len(order) == 1 {
					break // nothing is joined
				}
			}
		}
	}
	return all
}
