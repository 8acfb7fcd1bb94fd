package contract

import (
	"fmt"
	"regexp"
	"strings"
)

// Operation is one way to create something, as far as it is judged.
type Operation struct {
	Key      Key            `yaml:"key" json:"key"`
	Alter    map[string]any `yaml:"alter" json:"alter,omitempty"`      // members of the body that an altered body replaces
	Identity Identity       `yaml:"identity" json:"identity,omitzero"` // where an acknowledgement names the created thing
	Rows     Rows           `yaml:"rows" json:"rows"`
	Effects  []Effect       `yaml:"effects" json:"effects,omitempty"` // beyond the row
}

// KeyPlace is where the idempotency key travels.
type KeyPlace string

// The places of a key. The zero value is no key.
const (
	KeyNowhere  KeyPlace = ""
	KeyInHeader KeyPlace = "header"
	KeyInBody   KeyPlace = "body"
	KeyInQuery  KeyPlace = "query"
	KeyInPath   KeyPlace = "path" // where the path says {{.Key}}
	KeyInCookie KeyPlace = "cookie"
)

// Key says how an operation takes its idempotency key.
type Key struct {
	In       KeyPlace `yaml:"in" json:"in,omitempty"`
	Name     string   `yaml:"name" json:"name,omitempty"` // of the header, of the body's member or a JSON pointer to it, of the query's parameter, or of the cookie
	Required bool     `yaml:"required" json:"required,omitempty"`
	Quoted   bool     `yaml:"quoted" json:"quoted,omitempty"` // sent as a structured-field string (RFC 9651), in quotes
	Format   Format   `yaml:"format" json:"format,omitempty"`
	Like     string   `yaml:"like" json:"like,omitempty"`           // a key as the operation takes it: others have its form (see Form); empty: Format says all
	FoldCase bool     `yaml:"fold_case" json:"fold_case,omitempty"` // keys that differ in case only are the same key
}

// SetCookie adds a cookie to headers, behind those that they have. What a cookie cannot hold is percent-encoded (RFC 6265, section 4.1.1).
func SetCookie(header map[string]string, name, value string) {
	var pair strings.Builder
	pair.WriteString(name + "=")
	for _, b := range []byte(value) {
		if b <= ' ' || b > '~' || strings.IndexByte(`",;\`, b) >= 0 {
			fmt.Fprintf(&pair, "%%%02X", b)
		} else {
			pair.WriteByte(b)
		}
	}
	for at, others := range header {
		if strings.EqualFold(at, "Cookie") {
			header[at] = others + "; " + pair.String()
			return
		}
	}
	header["Cookie"] = pair.String()
}

// Format says what a key may look like.
type Format string

// The formats. Any text is a key, but for what the place forbids; or only a UUID is one (RFC 9562),
// whose letters have no case.
const (
	AnyText  Format = ""
	OnlyUUID Format = "uuid"
)

// Rows says how to find what an intent created: with a query, or by asking the target itself. A row of
// its answer has the scalar members of an item for columns, nested ones by dotted names.
type Rows struct {
	Query    string            `yaml:"query" json:"query"`               // with the parameter :marker, :reference or :key
	HTTP     *Listing          `yaml:"http" json:"http,omitempty"`       // nil: the database is asked
	Items    string            `yaml:"items" json:"items,omitempty"`     // JSON pointer to the list in the answer; empty: the answer is the list
	Next     string            `yaml:"next" json:"next,omitempty"`       // JSON pointer to the link to the next page; empty: an answer is all there is
	Cursor   string            `yaml:"cursor" json:"cursor,omitempty"`   // parameter of the query that takes what Next points to; empty: that is a link
	Absent   Absences          `yaml:"absent" json:"absent,omitempty"`   // statuses that mean that there are no rows; or NullList
	Identity string            `yaml:"identity" json:"identity"`         // column that holds the created thing's id
	Content  map[string]string `yaml:"content" json:"content,omitempty"` // column: JSON pointer into the request's body
	Adds     string            `yaml:"adds" json:"adds,omitempty"`       // column of Content that is a number, to which each execution adds what its body says; empty: each makes a row

	// VisibleWithin is how long after its acknowledgement a row may be missing where it is looked for, as in a read model.
	VisibleWithin Duration `yaml:"visible_within" json:"visible_within,omitempty"`
}

// ByReference reports that rows are asked for with the reference of an intent, which both of its bodies have.
func (r Rows) ByReference() bool {
	if r.HTTP != nil {
		asked := fmt.Sprint(r.HTTP.Path, r.HTTP.Header)
		return strings.Contains(asked, ".Intent.Reference") && !strings.Contains(asked, ".Intent.Marker")
	}
	return AsksWith("reference", r.Query)
}

// ByKey reports that rows are asked for with the key of an intent's requests, which stands for a marker that nothing stores.
func (r Rows) ByKey() bool {
	return AsksWith("key", r.Query) && !AsksWith("marker", r.Query) && !AsksWith("reference", r.Query)
}

// AsksWith reports that a query has a parameter, such as :marker. PostgreSQL's cast "::marker" is none.
func AsksWith(parameter, query string) bool {
	return regexp.MustCompile(`(^|[^:\w]):` + parameter + `\b`).MatchString(query)
}

// Effect is something that a create brings about beyond its row. Exactly one of Rows, Value, Delta and Seen is set. The
// first three are read from the database with Query; what Seen names is counted at a sink.
type Effect struct {
	Name   string   `yaml:"name" json:"name"` // unique in the target
	Query  string   `yaml:"query" json:"query,omitempty"`
	Rows   *int     `yaml:"rows" json:"rows,omitempty"`     // rows of the query, which has the parameter :marker
	Value  *float64 `yaml:"value" json:"value,omitempty"`   // the number that the query gives, which has the parameter :marker
	Delta  *float64 `yaml:"delta" json:"delta,omitempty"`   // change of the number that the query gives, which has no parameter
	Seen   string   `yaml:"seen" json:"seen,omitempty"`     // name of the sink that each of it reaches
	Where  Where    `yaml:"where" json:"where,omitzero"`    // with Seen: which messages are this effect
	Undone *Where   `yaml:"undone" json:"undone,omitempty"` // with Seen: which messages take one back; nil: nothing does
	Times  *int     `yaml:"times" json:"times,omitempty"`   // with Seen: how many for each created thing; nil: 1
	Within Duration `yaml:"within" json:"within,omitempty"` // with Seen: how long after its row it may come

	Delivery Delivery `yaml:"delivery" json:"delivery,omitempty"` // not with Delta
}

// Delivery says how sure it is that an effect reaches its sink, or is in the database. The zero value promises that it does, as often as it is to.
type Delivery string

// SentAtMostOnce promises that it does not more often: it is sent once and never again, and is missing if that fails. What is
// read from the database may be taken away, too, as a message is from a queue.
const SentAtMostOnce Delivery = "at-most-once"

// Each is how many of an effect that is seen belong to one created thing.
func (e Effect) Each() int {
	if e.Times == nil {
		return 1
	}
	return *e.Times
}

// Where says which messages are meant. An empty member says nothing; the zero value means all.
type Where struct {
	Method string `yaml:"method" json:"method,omitempty"` // of a request
	Path   string `yaml:"path" json:"path,omitempty"`     // of a request, without its query; a * stands for a part between two slashes

	To      string `yaml:"to" json:"to,omitempty"`           // of a mail: one of its recipients; of a message to a broker its stream, list, channel or routing key; in any case; a * stands for any text
	Subject string `yaml:"subject" json:"subject,omitempty"` // of a mail; a * stands for any text
	Span    string `yaml:"span" json:"span,omitempty"`       // name of a span; a * stands for any text
	Type    string `yaml:"type" json:"type,omitempty"`       // of a message to a broker, as its sink says where it stands; a * stands for any text
}

// Listing is a question to the target itself, where there is no database to ask: a GET whose answer
// lists what an intent created. Its texts are templates, and it may hold secrets.
type Listing struct {
	Path   string            `yaml:"path" json:"-"`
	Header map[string]string `yaml:"headers" json:"-"`
}

// Absences are statuses of answers that list nothing, or NullList.
type Absences []int

// UnmarshalYAML reads statuses, and null for a list that is null: a list of numbers alone would lose that.
func (a *Absences) UnmarshalYAML(decode func(any) error) error {
	var read []*int
	if err := decode(&read); err != nil {
		return err
	}
	*a = nil
	for _, status := range read {
		if status == nil {
			status = new(int) // NullList
		}
		*a = append(*a, *status)
	}
	return nil
}

// NullList stands among the statuses of [Rows.Absent] for a list that is written as null.
const NullList = 0
