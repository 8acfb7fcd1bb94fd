package drafting

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// signatureName matches names of headers that hold a signature of the request.
var signatureName = regexp.MustCompile(`(?i)signature|hmac|(^|-)sign$`)

// stampName matches names of headers that hold the time of one.
var stampName = regexp.MustCompile(`(?i)time-?stamp|(^|-)time$`)

// Forms of a signature: perhaps the time of it, perhaps the name of its version or hash, and the signature itself. Behind it there may be others.
var (
	signatureForm = regexp.MustCompile(`^((?:ts?|time|timestamp)=(\d{10}(?:\d{3})?)[,;]\s*)?((?:[A-Za-z]+\d*|[Vv]\d+)[=,])?([0-9A-Fa-f]{40,128}|[A-Za-z0-9+/]{27,86}={0,2})(?:[,; ].*)?$`)
	sinceThen     = regexp.MustCompile(`^\d{10}(\d{3})?$`) // seconds or milliseconds since 1970
)

// hashes are those of an HMAC by the length of what comes out.
var hashes = map[int]targets.Hash{20: targets.HashSHA1, 32: targets.HashSHA256, 64: targets.HashSHA512}

// readSignature looks for the header that signs the request: another body, or another time, needs another signature, so that the recorded one is
// worth nothing. It returns which headers are the signature's.
func readSignature(d *Draft, c Request, prefix string) (own []string) {
	for _, h := range c.Header {
		if !signatureName.MatchString(h[0]) {
			continue
		}
		sign := signs(h[1])
		if sign == nil || d.Sign != nil {
			continue
		}
		sign.Header, sign.recorded.request, own = h[0], c, append(own, h[0])
		for _, other := range c.Header {
			if sign.recorded.stamp == "" && stampName.MatchString(other[0]) && sinceThen.MatchString(other[1]) && !signatureName.MatchString(other[0]) {
				sign.takeTime(other[0], other[1])
				own = append(own, other[0])
			}
		}
		if sign.Written != "" && sign.recorded.stamp != "" {
			own = append(own, delivery(d, c.Header, h[0])...)
		}
		sign.Over = signedText(d, *sign)
		sign.Secret = d.variable(Variable(prefix, "signing_secret"), "")
		d.Sign = sign
		d.Doubts = append(d.Doubts, sign.doubt())
	}
	return own
}

// takeTime notes the time of a recorded signature, and the header that it has of its own, if any.
func (s *Signature) takeTime(header, stamp string) {
	s.recorded.stamp = stamp
	unit := targets.Unit("")
	if len(stamp) > len("1767000000") {
		unit = targets.UnitMillis
	}
	if header != "" || unit != "" {
		s.Time = &targets.SignTime{Header: header, Unit: unit}
	}
}

// doubt says what is not known of a signature that was only read.
func (s *Signature) doubt() string {
	return "What " + s.Header + " signs, and how: its value is written like " + saysSign(s.Sign) + ". If the target refuses it, mend request.sign."
}

// delivery takes the header with the id of what is delivered as the key: it is called like that of the signature, which covers it.
func delivery(d *Draft, headers [][2]string, signature string) (own []string) {
	begin, _, _ := strings.Cut(strings.ToLower(signature), "-")
	for _, h := range headers {
		if d.Key.In == contract.KeyNowhere && strings.EqualFold(h[0], begin+"-id") {
			d.Key = targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: h[0]}}
			own = append(own, h[0])
		}
	}
	return own
}

// signs reads how a signature is written; nil: the value is none.
func signs(value string) *Signature {
	m := signatureForm.FindStringSubmatch(strings.TrimSpace(value))
	if m == nil {
		return nil
	}
	s := &Signature{Sign: targets.Sign{Encoding: targets.EncodingHex, Prefix: m[1] + m[3]}}
	s.recorded.value, s.recorded.version = m[1]+m[3]+m[4], strings.TrimRight(m[3], "=,")
	if m[2] != "" {
		s.Prefix = strings.Replace(s.Prefix, m[2], "{{.Time}}", 1)
		s.takeTime("", m[2])
	}
	sum, err := hex.DecodeString(m[4])
	if err != nil {
		s.Encoding = targets.EncodingBase64
		if sum, err = base64.StdEncoding.DecodeString(m[4]); err != nil {
			return nil
		}
	}
	if s.HMAC = hashes[len(sum)]; s.HMAC == "" {
		return nil
	}
	if s.Encoding == targets.EncodingBase64 && strings.HasSuffix(s.Prefix, ",") { // as Standard Webhooks have it
		s.Written = targets.EncodingBase64
	}
	return s
}

// signedText is what is signed in most cases: the body, or the path where there is none, behind the time where one is sent, and behind what a delivery is called where the version
// of a signature stands in front of a comma. A version in front of an equals sign and a time of another header are joined by colons.
func signedText(d *Draft, s Signature) string {
	said := "{{.Body}}"
	if d.Query {
		said = "{{.Path}}"
	}
	switch {
	case s.Written == targets.EncodingBase64 && s.recorded.stamp != "" && d.Key.In == contract.KeyInHeader:
		return "{{.Key}}.{{.Time}}." + said
	case s.recorded.stamp != "" && regexp.MustCompile(`^[Vv]\d+=$`).MatchString(s.Prefix):
		return s.recorded.version + ":{{.Time}}:" + said
	case s.recorded.stamp != "":
		return "{{.Time}}." + said
	}
	return said
}

// saysSign says how a request is signed.
func saysSign(s targets.Sign) string {
	return "an HMAC of " + s.Over + " with " + string(s.HMAC) + " in " + string(s.Encoding)
}

// signing are the members of request.sign, as far as they are not what holds anyway.
func signing(s targets.Sign) map[string]any {
	all := map[string]any{"header": s.Header, "hmac": string(s.HMAC), "secret": s.Secret, "over": s.Over}
	if s.Prefix != "" {
		all["prefix"] = s.Prefix
	}
	if s.Encoding != targets.EncodingHex {
		all["encoding"] = string(s.Encoding)
	}
	if s.Written != "" {
		all["secret_encoding"] = string(s.Written)
	}
	if s.Time != nil {
		when := map[string]any{}
		if s.Time.Header != "" {
			when["header"] = s.Time.Header
		}
		if s.Time.Unit != "" {
			when["unit"] = string(s.Time.Unit)
		}
		all["time"] = when
	}
	return all
}
