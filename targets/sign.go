package targets

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"
)

// Sign says how every attempt is signed: an HMAC (RFC 2104) of what it carries, in a header.
type Sign struct {
	Header   string    `yaml:"header" json:"header"`
	HMAC     Hash      `yaml:"hmac" json:"hmac"`
	Secret   string    `yaml:"secret" json:"-"`                                  // may be a template
	Written  Encoding  `yaml:"secret_encoding" json:"secret_encoding,omitempty"` // of the secret; empty: its text is what signs
	Over     string    `yaml:"over" json:"over"`                                 // template of what is signed, see [Signed]
	Encoding Encoding  `yaml:"encoding" json:"encoding"`                         // of the signature
	Prefix   string    `yaml:"prefix" json:"prefix"`                             // template of what the header's value begins with, see [Signed]
	Time     *SignTime `yaml:"time" json:"time,omitempty"`                       // nil: in seconds, and in no header of its own
}

// SignTime says where the time of the signature travels, and how it is written: since 1970.
type SignTime struct {
	Header string `yaml:"header" json:"header,omitempty"` // empty: in none of its own
	Unit   Unit   `yaml:"unit" json:"unit,omitempty"`
}

// Unit is in what a time is counted. The zero value counts seconds.
type Unit string

// The units.
const (
	UnitSeconds Unit = "s"
	UnitMillis  Unit = "ms"
)

// Hash is the hash of an HMAC.
type Hash string

// The hashes.
const (
	HashSHA256 Hash = "sha256"
	HashSHA512 Hash = "sha512"
	HashSHA1   Hash = "sha1"
)

// Encoding says how a signature is written.
type Encoding string

// The encodings.
const (
	EncodingHex    Encoding = "hex"
	EncodingBase64 Encoding = "base64"
)

// Signed is what the template of what is signed can use.
type Signed struct {
	Method string
	Path   string // with the path of the base URL and the query, as it is sent
	Body   string
	Time   string // since 1970, see [SignTime]
	Key    string // empty: the request has none
}

// usualOver is what is signed where the file does not say it.
const usualOver = "{{.Body}}"

// Sign signs a request whose key is placed. Base is the path of the base URL. A request that is not to
// be signed stays as it is.
func (o Operation) Sign(r *Rendered, base, key string, at time.Time) error {
	s := o.Request.Sign
	if s == nil {
		return nil
	}
	stamp := s.Stamp(strconv.FormatInt(at.Unix(), 10))
	value, err := s.Value(*r, base, key, stamp)
	if err != nil {
		return err
	}
	r.setHeader(s.Header, value)
	if header := s.stampHeader(); header != "" {
		r.setHeader(header, stamp)
	}
	return nil
}

// Value returns what the signature's header says for a request with its key and a time as [Sign.Stamp] writes it. Base is the path of the
// base URL. The error does not quote the secret.
func (s Sign) Value(r Rendered, base, key, stamp string) (string, error) {
	secret, err := s.Written.bytes(r.Signer)
	if err != nil {
		return "", fmt.Errorf("read the secret of the signature: %w", err)
	}
	over, err := s.Text(r, base, key, stamp)
	if err != nil {
		return "", fmt.Errorf("render what is signed: %w", err)
	}
	prefix, err := s.Begins(r, base, key, stamp)
	if err != nil {
		return "", fmt.Errorf("render what a signature begins with: %w", err)
	}
	mac := hmac.New(s.HMAC.new(), secret)
	mac.Write([]byte(over))
	return prefix + s.Encoding.text(mac.Sum(nil)), nil
}

// Stamp writes a time of whole seconds in the unit of the signature's time.
func (s Sign) Stamp(seconds string) string {
	if s.Time != nil && s.Time.Unit == UnitMillis {
		return seconds + "000"
	}
	return seconds
}

// stampHeader is the header of the signature's time; empty: it has none of its own.
func (s Sign) stampHeader() string {
	if s.Time == nil {
		return ""
	}
	return s.Time.Header
}

// Text returns what the signature of a request is made of. Base is the path of the base URL.
func (s Sign) Text(r Rendered, base, key, stamp string) (string, error) {
	return fillWith(s.Over, signed(r, base, key, stamp))
}

// Begins returns what the value of the signature's header begins with, such as the time of the signature.
func (s Sign) Begins(r Rendered, base, key, stamp string) (string, error) {
	return fillWith(s.Prefix, signed(r, base, key, stamp))
}

// signed is what the templates of a signature can use of a request.
func signed(r Rendered, base, key, stamp string) Signed {
	return Signed{Method: r.Method, Path: base + r.Path, Body: string(r.Body), Time: stamp, Key: key}
}

// new returns the constructor of the hash. SHA-256 is the usual one; the schema lets no other name
// pass.
func (h Hash) new() func() hash.Hash {
	switch h {
	case HashSHA512:
		return sha512.New
	case HashSHA1:
		return sha1.New
	default:
		return sha256.New
	}
}

// text writes a signature.
func (e Encoding) text(sum []byte) string {
	if e == EncodingBase64 {
		return base64.StdEncoding.EncodeToString(sum)
	}
	return hex.EncodeToString(sum)
}

// bytes are what a written secret stands for. In front of base64 and hex there may be a name that ends with an underscore, which neither has.
// The error does not quote the secret.
func (e Encoding) bytes(secret string) ([]byte, error) {
	if e == "" {
		return []byte(secret), nil
	}
	secret = strings.TrimSpace(secret[strings.LastIndex(secret, "_")+1:])
	if e == EncodingHex {
		if decoded, err := hex.DecodeString(secret); err == nil && len(decoded) > 0 {
			return decoded, nil
		}
	} else if decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(secret, "=")); err == nil && len(decoded) > 0 {
		return decoded, nil
	}
	return nil, fmt.Errorf("it is not written in %s", e)
}
