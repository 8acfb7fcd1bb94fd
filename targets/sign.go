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
	Time     *SignTime `yaml:"time" json:"time,omitempty"`                       // nil: the time is not sent
}

// SignTime says where the time of the signature travels, in seconds since 1970.
type SignTime struct {
	Header string `yaml:"header" json:"header"`
}

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
	Time   string // seconds since 1970
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
	seconds := strconv.FormatInt(at.Unix(), 10)
	over, err := s.Text(*r, base, key, seconds)
	if err != nil {
		return fmt.Errorf("render what is signed: %w", err)
	}
	prefix, err := s.Begins(*r, base, key, seconds)
	if err != nil {
		return fmt.Errorf("render what a signature begins with: %w", err)
	}
	secret, err := s.Written.bytes(r.Signer)
	if err != nil {
		return fmt.Errorf("read the secret of the signature: %w", err)
	}
	mac := hmac.New(s.HMAC.new(), secret)
	mac.Write([]byte(over))
	r.setHeader(s.Header, prefix+s.Encoding.text(mac.Sum(nil)))
	if s.Time != nil {
		r.setHeader(s.Time.Header, seconds)
	}
	return nil
}

// Text returns what the signature of a request is made of. Base is the path of the base URL.
func (s Sign) Text(r Rendered, base, key, seconds string) (string, error) {
	return fillWith(s.Over, signed(r, base, key, seconds))
}

// Begins returns what the value of the signature's header begins with, such as the time of the signature.
func (s Sign) Begins(r Rendered, base, key, seconds string) (string, error) {
	return fillWith(s.Prefix, signed(r, base, key, seconds))
}

// signed is what the templates of a signature can use of a request.
func signed(r Rendered, base, key, seconds string) Signed {
	return Signed{Method: r.Method, Path: base + r.Path, Body: string(r.Body), Time: seconds, Key: key}
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
