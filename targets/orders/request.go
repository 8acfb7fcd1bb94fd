package orders

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// keyHeader carries the idempotency key.
const keyHeader = "Idempotency-Key"

// sessionHeader carries the session of a guest.
const sessionHeader = "X-Session"

// maxText is the longest note, reference, item, key or customer, in characters: what the columns hold.
const maxText = 255

// request is one request to create something that was read and understood.
type request struct {
	Customer    string // empty: the request is not signed in
	Kind        kind
	Path        string
	RawKey      string // as it was sent; empty: sent without a key
	Key         string // RawKey as a store knows it: apart from those of other customers and kinds
	Fingerprint string // equal for bodies that mean the same
	Order       order  // as far as the body has it
	Header      http.Header
	Body        []byte // as it came
}

// signedIn refuses requests that are not signed in and passes the others on.
func signedIn(next handler) handler {
	return func(ctx context.Context, req request) (answer, error) {
		if req.Customer == "" {
			return unauthorized(), nil
		}
		return next(ctx, req)
	}
}

// bearer is the customer who sends a request: any token is one of that name.
func bearer(header http.Header) string {
	scheme, token, _ := strings.Cut(header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || !plain(token) || strings.Contains(token, " ") {
		return ""
	}
	return token
}

// session is the guest who sends a request.
func session(header http.Header) string {
	if id := header.Get(sessionHeader); plain(id) && !strings.Contains(id, " ") {
		return id
	}
	return ""
}

// needKey refuses requests without a usable key and passes the others on.
func needKey(next handler) handler { return needKeyUpTo(maxText, next) }

// needKeyUpTo is needKey with another length of the longest key.
func needKeyUpTo(longest int, next handler) handler {
	return func(ctx context.Context, req request) (answer, error) {
		if req.RawKey == "" {
			return problem(http.StatusBadRequest, "key_required", "an idempotency key is required"), nil
		}
		if len(req.Header.Values(keyHeader)) > 1 || !printable(req.RawKey) || len(req.RawKey) > longest {
			return problem(http.StatusBadRequest, "key_invalid",
				fmt.Sprintf("the key must be one text of at most %d ASCII characters", longest)), nil
		}
		return next(ctx, req)
	}
}

// needReference refuses requests without a reference and passes the others on.
func needReference(next handler) handler {
	return func(ctx context.Context, req request) (answer, error) {
		if req.Order.Reference == "" {
			return invalidBody("reference is required"), nil
		}
		return next(ctx, req)
	}
}

// plain reports whether every store keeps the text as it is.
func plain(text string) bool { return printable(text) && len(text) <= maxText }

func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// reader reads what a customer asks for.
type reader func(customer string, of kind, header http.Header, body []byte) (request, error)

// readRequest reads it from a JSON object, and refuses an amount that is none before the key is looked at.
func readRequest(customer string, of kind, header http.Header, body []byte) (request, error) {
	req, err := readAnyRequest(customer, of, header, body)
	if err == nil {
		err = checkAmount(req.Order.Amount, "amount")
	}
	return req, err
}

// readAnyRequest is readRequest for designs that refuse an amount themselves.
func readAnyRequest(customer string, of kind, header http.Header, body []byte) (request, error) {
	members, err := readObject(body)
	if err != nil {
		return request{}, err
	}
	canonical(members)
	o, err := readAnyOrder(members)
	if err != nil {
		return request{}, err
	}
	req := request{
		Customer: customer, Kind: of, Fingerprint: fingerprintOf(members),
		Order: o, Header: header, Body: body,
	}
	return req.withKey(header.Get(keyHeader)), nil
}

// withKey returns the request as if it had been sent with this key. Neither a customer nor a kind has
// a space in it, so that no two of them share a key.
func (r request) withKey(key string) request {
	r.RawKey = key
	r.Key = fmt.Sprintf("%s %s %s", r.Customer, r.Kind, key)
	return r
}

// fingerprintOf is equal for equal values. Maps are marshalled with sorted members, so that their
// order in the body does not count.
func fingerprintOf(value any) string { return hash(mustJSON(value)) }

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// readObject reads one JSON object, with numbers as they are spelled.
func readObject(body []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil || members == nil {
		return nil, errors.New("the body must be a JSON object")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the body must be one JSON object and nothing else")
	}
	return members, nil
}

// canonical spells equal numbers equally, in place: 1200, 1200.0 and 1.2e3 are the same amount.
func canonical(value any) any {
	switch v := value.(type) {
	case json.Number:
		return canonicalNumber(v)
	case map[string]any:
		for name := range v {
			v[name] = canonical(v[name])
		}
	case []any:
		for i := range v {
			v[i] = canonical(v[i])
		}
	}
	return value
}

func canonicalNumber(number json.Number) json.Number {
	if whole, err := number.Int64(); err == nil {
		return json.Number(strconv.FormatInt(whole, 10))
	}
	const exact = 1 << 53 // beyond it a float64 does not hold every whole number
	real, err := number.Float64()
	switch {
	case err != nil:
		return number
	case real == math.Trunc(real) && math.Abs(real) < exact:
		return json.Number(strconv.FormatInt(int64(real), 10))
	default:
		return json.Number(strconv.FormatFloat(real, 'g', -1, 64))
	}
}

func readOrder(members map[string]any) (order, error) {
	o, err := readAnyOrder(members)
	if err == nil {
		err = checkAmount(o.Amount, "amount")
	}
	return o, err
}

// readAnyOrder is readOrder with any amount.
func readAnyOrder(members map[string]any) (order, error) {
	var o order
	for name, field := range map[string]*string{"note": &o.Note, "reference": &o.Reference, "item": &o.Item} {
		text, isText := members[name].(string)
		if !isText && members[name] != nil {
			return o, fmt.Errorf("%s must be a string", name)
		}
		// PostgreSQL keeps no NUL in a text.
		if utf8.RuneCountInString(text) > maxText || strings.ContainsRune(text, 0) {
			return o, fmt.Errorf("%s must have at most %d characters, none of them NUL", name, maxText)
		}
		*field = text
	}
	var err error
	if o.Amount, err = readWhole(members, "amount"); err != nil {
		return o, err
	}
	if o.Item == "" {
		return o, errors.New("item is required")
	}
	return o, nil
}

// readAmount reads the member that says how much.
func readAmount(members map[string]any, name string) (int64, error) {
	amount, err := readWhole(members, name)
	if err == nil {
		err = checkAmount(amount, name)
	}
	return amount, err
}

func readWhole(members map[string]any, name string) (int64, error) {
	number, _ := members[name].(json.Number)
	whole, err := number.Int64()
	if err != nil {
		return 0, notAbove0(name)
	}
	return whole, nil
}

func checkAmount(amount int64, name string) error {
	if amount <= 0 {
		return notAbove0(name)
	}
	return nil
}

func notAbove0(name string) error { return fmt.Errorf("%s must be a whole number above 0", name) }
