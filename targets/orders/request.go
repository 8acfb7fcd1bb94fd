package orders

import (
	"bytes"
	"context"
	"crypto/rand"
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
	"time"
	"unicode/utf8"
)

// keyHeader carries the idempotency key.
const keyHeader = "Idempotency-Key"

// maxText is the longest note, reference, item or key, in characters: what the columns hold.
const maxText = 255

// request is one POST /orders that was read and understood.
type request struct {
	Key         string // empty: sent without a key
	Fingerprint string // equal for bodies that mean the same
	Order       order  // without ID and CreatedAt
	Header      http.Header
	Body        []byte // as it came
}

// order is what the API creates, and its form in answers.
type order struct {
	ID        string `json:"id"`
	Note      string `json:"note"`
	Reference string `json:"reference"`
	Item      string `json:"item"`
	Amount    int64  `json:"amount"`
	CreatedAt string `json:"created_at"`
}

// newOrder is the order that a request asks for, with a fresh id and the time of now.
func newOrder(req request) order {
	o := req.Order
	o.ID = newID("ord_")
	o.CreatedAt = time.Now().UTC().Format(time.RFC3339Nano)
	return o
}

// newID is a random id that nobody else has.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// columns are the order's values in the order of the table's columns.
func (o order) columns() []any {
	return []any{o.ID, o.Note, o.Reference, o.Item, o.Amount, o.CreatedAt}
}

// needKey refuses requests without a usable key and passes the others on.
func needKey(next handler) handler {
	return func(ctx context.Context, req request) (answer, error) {
		if req.Key == "" {
			return problem(http.StatusBadRequest, "key_required", "the header "+keyHeader+" is required"), nil
		}
		if len(req.Header.Values(keyHeader)) > 1 || !plain(req.Key) {
			return problem(http.StatusBadRequest, "key_invalid", "the key must be one header of at most 255 ASCII characters"), nil
		}
		return next(ctx, req)
	}
}

// plain reports whether every store keeps the key as it is.
func plain(key string) bool {
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return false
		}
	}
	return len(key) <= maxText
}

func readRequest(header http.Header, body []byte) (request, error) {
	members, err := readObject(body)
	if err != nil {
		return request{}, err
	}
	o, err := readOrder(members)
	if err != nil {
		return request{}, err
	}
	// Maps are marshalled with sorted members, so that their order in the body does not count.
	sum := sha256.Sum256(mustJSON(members))
	return request{
		Key: header.Get(keyHeader), Fingerprint: hex.EncodeToString(sum[:]),
		Order: o, Header: header, Body: body,
	}, nil
}

// readObject reads one JSON object, with numbers in canonical form.
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
	for name, value := range members {
		members[name] = canonical(value)
	}
	return members, nil
}

// canonical spells equal numbers equally: 1200, 1200.0 and 1.2e3 are the same amount.
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
	number, _ := members["amount"].(json.Number)
	amount, err := number.Int64()
	if err != nil || amount <= 0 {
		return o, errors.New("amount must be a whole number above 0")
	}
	o.Amount = amount
	if o.Item == "" {
		return o, errors.New("item is required")
	}
	return o, nil
}
