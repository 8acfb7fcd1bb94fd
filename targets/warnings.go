package targets

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/internal/sqltext"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Warnings returns what is no mistake in a target file that was loaded, and may not be meant.
func Warnings(file string, source []byte, t Target) document.Mistakes {
	doc, err := document.Parse(source, document.Options{File: file, Schema: []byte("{}")})
	if doc == nil || err != nil {
		return nil
	}
	all := untriedWithoutKeys(doc, t)
	for _, name := range t.OperationNames() {
		o := t.Operations[name]
		if o.Alter != nil && t.IsAnotherIntent(o, Altered) {
			all = append(all, doc.Mistake(jsonpointer.Of("operations", name, "alter"),
				"the altered body has another value at contract.natural_key: it is another intent, so whether a key that comes with another body is rejected is not tried; alter another member, or write {{.Intent.Reference}} there in place of {{.Intent.Marker}}"))
		}
		if fold, _ := folds(o, dialectOf(t)); fold != "" {
			all = append(all, doc.Mistake(jsonpointer.Of("operations", name, "rows", "query"),
				"%q can make one row of several: a duplicate, or two things that were asked for with one body, may not show; %s", fold, eachRow))
		}
		for i, e := range o.Effects {
			if key, n := amountOf(e); n != 0 {
				if pointer, altered, moves := t.altersNumber(o, n); moves {
					all = append(all, doc.Mistake(jsonpointer.Of("operations", name, "effects", i, key),
						"the body has this number at %s, and an altered one has %s there: if the effect goes by it, what the altered body does is called wrong; %s, or alter another member", pointer, altered, withoutIt[key]))
				}
			}
		}
	}
	return all
}

// untriedWithoutKeys warns of what a file says of keys where no operation has one: no run tries it.
func untriedWithoutKeys(doc *document.Document, t Target) (all document.Mistakes) {
	for _, o := range t.Operations {
		if o.Key.In != contract.KeyNowhere {
			return nil
		}
	}
	for _, line := range []string{"scope/principal", "scope/operation", "scope/path", "missing_key", "expiry/after"} {
		told := line == "scope/principal" && t.Contract.Scope.Principal == contract.ScopeShared && len(t.Principals) > 1 // then nothing between them is a leak
		if path := "/contract/" + line; doc.Has(path) && !told {
			all = append(all, doc.Mistake(path, "no operation has a key, and a run tries this with keys only: it says nothing of this line"))
		}
	}
	if path := "/contract/content_window"; doc.Has(path) && len(t.Contract.NaturalKey) == 0 {
		all = append(all, doc.Mistake(path, "no operation has a key, and there is no natural_key: each request is an intent of its own, none is repeated, and a run says nothing of this line"))
	}
	return all
}

// withoutIt is how an effect is asked for that goes by a number of the body.
var withoutIt = map[string]string{
	"value": "take the sum of what the rows say off in the query, with value: 0",
	"delta": "add up in the query what the rows say, with delta: 0",
}

// amountOf returns the number by which each create changes what an effect counts, without its sign, and the key that says so. Few
// things are rather counted than told by a body, and may be as many by chance: 0.
func amountOf(e contract.Effect) (key string, n float64) {
	switch {
	case e.Value != nil:
		key, n = "value", math.Abs(*e.Value)
	case e.Delta != nil:
		key, n = "delta", math.Abs(*e.Delta)
	}
	if n < fewest {
		return key, 0
	}
	return key, n
}

// fewest is the least number that is taken for an amount, and not for a count.
const fewest = 10

// altersNumber returns where the body has a number that the altered one changes, and what stands there then.
func (t Target) altersNumber(o Operation, n float64) (pointer, altered string, found bool) {
	if o.Alter == nil {
		return "", "", false
	}
	plain, other, err := t.bothBodies(o, Altered)
	if err != nil {
		return "", "", false
	}
	from, to := numbersOf(plain.members(), ""), numbersOf(other.members(), "")
	for _, pointer := range slices.Sorted(maps.Keys(from)) {
		if is, there := to[pointer]; there && from[pointer] == n && is != n {
			return pointer, strconv.FormatFloat(is, 'f', -1, 64), true
		}
	}
	return "", "", false
}

// numbersOf returns the numbers of a body, by where they stand, without their signs. A number that stands there as a text counts, as
// in a form.
func numbersOf(value any, at string) map[string]float64 {
	all := map[string]float64{}
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			maps.Copy(all, numbersOf(member, at+jsonpointer.Of(name)))
		}
	case []any:
		for i, member := range value {
			maps.Copy(all, numbersOf(member, at+jsonpointer.Of(i)))
		}
	case float64:
		all[at] = math.Abs(value)
	case string:
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			all[at] = math.Abs(n)
		}
	}
	return all
}

// sqlWord matches a word of a query, a name in quotes, or a sign that tells how deep it stands.
var sqlWord = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|\\w+|[(),*]")

// ownID matches the name of a column that is another one in each row.
var ownID = regexp.MustCompile(`^(\w*_)?(id|uuid|guid|rowid)$|^\*$`)

// eachRow is what a row query is to do.
const eachRow = "select each created row, with its id"

// folds says what in the row query of an operation can make one row of several, and whether it always does; empty: nothing shows that it does.
// Only the outer query is looked at: what a query in parentheses folds may be what is looked up, and no created row.
func folds(o Operation, d sqltext.Dialect) (fold string, always bool) {
	if o.Rows.Query == "" || o.Rows.Adds != "" {
		return "", false
	}
	words := outerWords(sqltext.Outside(o.Rows.Query, d))
	from := slices.Index(words, "from")
	if from < 0 {
		return "", false
	}
	after := func(first ...string) (rest []string, found bool) {
		for i := range words {
			if i+len(first) <= len(words) && slices.Equal(words[i:i+len(first)], first) {
				return words[i+len(first):], true
			}
		}
		return nil, false
	}
	if rest, found := after("limit"); found && limitsToOne(rest) {
		return "limit 1", true
	}
	if rest, found := after("fetch"); found && len(rest) > 1 && (rest[1] == "1" || strings.HasPrefix(rest[1], "row")) {
		return "fetch first row", true
	}
	grouping, grouped := after("group", "by")
	if i := slices.IndexFunc(words[:from], func(w string) bool { return aggregates.MatchString(w) }); i >= 0 && !grouped && !slices.ContainsFunc(words[:from], windowed) {
		return strings.TrimRight(words[i], "(,)"), true
	}
	if grouped && !hasOwnID(grouping, "having", "order", "limit", "union") {
		return "group by", false
	}
	if rest, found := after("select", "distinct"); found && (strings.HasPrefix(rest[0], "on(") || !hasOwnID(rest, "from")) {
		return "distinct", false
	}
	return "", false
}

// aggregates matches the call of a function that makes one value of all rows.
var aggregates = regexp.MustCompile(`^((count|min|max|sum|avg|any_value|array_agg|json_agg)\(\)|(string_agg|group_concat)\(,?\))$`)

// windowed reports that a word makes of the call before it one that folds no rows.
func windowed(word string) bool { return word == "over" || strings.HasPrefix(word, "over(") }

// outerWords are the words of a query that stand in no parentheses, in lower case. A call is its name with
// empty parentheses, or with a comma in them if it has several arguments.
func outerWords(text string) []string {
	var words []string
	depth := 0
	for _, w := range sqlWord.FindAllString(strings.ToLower(text), -1) {
		switch {
		case w == "(":
			if depth == 0 && len(words) > 0 {
				words[len(words)-1] += "()"
			}
			depth++
		case w == ")":
			depth--
		case w == "," && depth == 1 && len(words) > 0 && strings.HasSuffix(words[len(words)-1], "()"):
			words[len(words)-1] = strings.TrimSuffix(words[len(words)-1], ")") + ",)"
		case depth == 0:
			words = append(words, strings.Trim(w, "\"`"))
		}
	}
	return words
}

// limitsToOne reports that what follows the word limit allows one row: "1", or "5, 1" with what is skipped in front.
func limitsToOne(rest []string) bool {
	if len(rest) > 2 && rest[1] == "," {
		return rest[2] == "1"
	}
	return len(rest) > 0 && rest[0] == "1"
}

// hasOwnID reports that a list, which ends at one of some words, has a column that is another one in each row. A name that is only given to
// what is selected is none.
func hasOwnID(list []string, ends ...string) bool {
	for i, w := range list {
		if slices.Contains(ends, w) {
			return false
		}
		if ownID.MatchString(w) && (i == 0 || list[i-1] != "as") {
			return true
		}
	}
	return false
}

// UnsureOf is the line of a target file below which init lists, each behind a "- ", what it was unsure of.
const UnsureOf = "# What init was unsure of:"

// Unsure counts what the head of a target file still lists that init was unsure of.
func Unsure(source []byte) (things int) {
	below := false
	for line := range strings.Lines(strings.TrimPrefix(string(source), "\ufeff")) {
		switch {
		case !below:
			below = strings.TrimRight(line, "\r\n") == UnsureOf
		case strings.HasPrefix(line, "# - "):
			things++
		case !strings.HasPrefix(line, "#"):
			return things
		}
	}
	return things
}

// IsAnotherIntent reports that a variant of an operation's body is another intent by its natural key alone.
func (t Target) IsAnotherIntent(o Operation, which Variant) bool {
	if o.Key.In != contract.KeyNowhere && t.Contract.Fingerprint.OnMismatch != contract.MismatchUnspecified {
		return false // the key says that it is the same
	}
	plain, other, err := t.bothBodies(o, which)
	if err != nil {
		return false
	}
	for _, pointer := range t.Contract.NaturalKey {
		if pointer == contract.WholePath {
			if plain.Path != other.Path {
				return true
			}
		} else if said(plain, pointer) != said(other, pointer) {
			return true
		}
	}
	return false
}

// bothBodies renders an operation's request with its body as it is, and with a variant of it.
func (t Target) bothBodies(o Operation, which Variant) (plain, other Rendered, err error) {
	values := t.samples()[0].values
	values.Intent.Marker = sampleMarkerOf(o.Marker)
	values.Extracted, values.Parent = Extracted{Login: sampleOf(t.Login), Prepared: sampleOf(o.Prepare)}, o.Parent(0) // both bodies get the same
	if plain, err = o.Render(values, AsItIs); err != nil {
		return plain, other, err
	}
	values.Intent.Marker += "1"
	other, err = o.Render(values, which)
	return plain, other, err
}

// members is what a request says, as JSON reads it; nil: nothing that can be read.
func (r Rendered) members() any {
	text := r.Body
	if r.Says != nil {
		text = r.Says
	}
	var body any
	if json.Unmarshal(text, &body) != nil {
		return nil
	}
	return body
}

// said returns what a request says at a pointer into its body, for comparison.
func said(r Rendered, pointer string) string {
	value, _ := jsonpointer.Resolve(r.members(), pointer)
	return fmt.Sprint(value)
}
