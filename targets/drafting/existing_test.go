package drafting

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestARefusalOfWhatIsThereSaysSo holds that creates which are refused because of what is there are known by a number or a sentence where they have no
// code, if all of them say the same, and no other refusal does.
func TestARefusalOfWhatIsThereSaysSo(t *testing.T) {
	t.Parallel()
	refused := func(text string) Answer {
		a := Answer{Status: 400}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&a.Body))
		return a
	}
	const taken = `{"error_message": "This category already exists."}`
	for name, c := range map[string]struct {
		again, other, declined, altered string
		copies                          []string
		where                           string
	}{
		"a sentence":                   {again: taken, other: taken, where: "where: {/error_message: This category already exists.}"},
		"a number":                     {again: `{"code": 159, "error": "a dtq7 is there"}`, other: `{"code": 159, "error": "a dtx8 is there"}`, where: "where: {/code: 159}"},
		"a sentence of its member":     {again: `{"title": ["has already been taken"]}`, other: `{"title": ["has already been taken"]}`, where: "where: {/title/0: has already been taken}"},
		"its status":                   {again: `{"code": 400}`, other: `{"code": 400}`},
		"what the request said":        {again: `{"message": "lamp exists"}`, other: `{"message": "lamp exists"}`},
		"one refusal":                  {again: taken},
		"another sentence":             {again: taken, other: `{"error_message": "Such a title is there."}`},
		"another one that lost a race": {again: taken, other: taken, copies: []string{`{"error_message": "Try later."}`}},
		"all that lost a race":         {again: taken, copies: []string{taken}, where: "where: {/error_message: This category already exists.}"},
		"what other mistakes say":      {again: taken, other: taken, declined: taken},
		"another body with the value":  {again: taken, other: taken, altered: taken, where: "where: {/error_message: This category already exists.}"},
	} {
		f := File{
			Dialect: databases.SQLite, Proof: &Proof{Text: "/title", Where: Where{Column: "title", Exact: true}, Table: databases.Table{Name: "categories", Unique: [][]string{{"title"}}}},
			Draft: Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"title": "lamp"}, Texts: []string{"/title"}},
		}
		r := Repeated{First: Answer{Status: 201}, Again: refused(c.again), Rows: 1, Natural: []string{"/title"}}
		if c.other != "" {
			other := refused(c.other)
			r.Taken = &other
		}
		if c.altered != "" {
			altered := refused(c.altered)
			r.Altered = &altered
		}
		if c.declined != "" {
			r.Declined = []Answer{refused(c.declined)}
		}
		for _, text := range c.copies {
			r.Bursts = append(r.Bursts, Burst{Copies: []Answer{{Status: 201}, refused(text)}, After: refused(c.again)})
		}
		f.Learn(r)
		text, err := f.Text()
		require.NoError(t, err)
		if c.declined == "" {
			require.Contains(t, text, "existing: {statuses: [400]", name)
		}
		require.Equal(t, c.where != "", strings.Contains(text, "where: "), "%s\n%s", name, text)
		require.Contains(t, text, c.where, name)
	}
}

// TestARepetitionThatIsRefusedAsAnotherBodyIsADoubt holds that a key is not taken to be kept without a word where the very same body is refused under it as another
// one is, and nothing else could be what is taken.
func TestARepetitionThatIsRefusedAsAnotherBodyIsADoubt(t *testing.T) {
	t.Parallel()
	read := func(status int, text string) Answer {
		a := Answer{Status: status}
		require.NoError(t, json.Unmarshal([]byte(text), &a.Body))
		return a
	}
	differs := read(422, `{"message": "Payload does not match stored record for ref8a8b8c8d8e."}`)
	for name, c := range map[string]struct {
		again, altered Answer
		natural        []string
		key            contract.KeyPlace
		told           bool
	}{
		"the same words":         {differs, read(422, `{"message": "Payload does not match stored record for ref1a1b1c1d1e."}`), nil, contract.KeyInHeader, true},
		"other words":            {read(422, `{"message": "The order is there."}`), differs, nil, contract.KeyInHeader, false},
		"another status":         {read(400, `{}`), differs, nil, contract.KeyInHeader, false},
		"a conflict":             {read(409, `{"code": "used"}`), read(409, `{"code": "used"}`), nil, contract.KeyInHeader, false},
		"a value that is taken":  {differs, differs, []string{"/title"}, contract.KeyInHeader, false},
		"a key in the path":      {differs, differs, nil, contract.KeyInPath, false},
		"a repetition gets it":   {read(201, `{}`), differs, nil, contract.KeyInHeader, false},
		"another body gets that": {differs, read(201, `{}`), nil, contract.KeyInHeader, false},
	} {
		f := File{
			Dialect: databases.SQLite, Proof: &Proof{Text: "/title", Where: Where{Column: "title", Exact: true}, Table: databases.Table{Name: "orders"}},
			Draft: Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"title": "lamp", "amount": int64(5)}, Texts: []string{"/title"}, Key: targets.Key{Key: contract.Key{In: c.key, Name: "Idempotency-Key"}}},
		}
		f.Learn(Repeated{First: read(201, `{}`), Again: c.again, Altered: &c.altered, Rows: 1, Natural: c.natural})
		require.Equal(t, c.told, strings.Contains(strings.Join(f.Doubts, "\n"), "Whether a repetition may be refused as another body is"), name)
	}
}

// TestTheRefusalOfAnotherBodyIsKnownByItsWords holds that the member with the words of a refusal may have any name.
func TestTheRefusalOfAnotherBodyIsKnownByItsWords(t *testing.T) {
	t.Parallel()
	read := func(text string) Answer {
		a := Answer{Status: 422}
		require.NoError(t, json.Unmarshal([]byte(text), &a.Body))
		return a
	}
	for name, c := range map[string]struct {
		altered, again, unlike string
		where                  map[string]any
	}{
		"a usual name":                {`{"message": "the key was used before"}`, `{"message": "the key was used before"}`, `{"message": "title is missing"}`, map[string]any{"/message": "the key was used before"}},
		"a name of its own":           {`{"err": "the key was used before"}`, `{"err": "the key was used before"}`, `{"err": "title is missing"}`, map[string]any{"/err": "the key was used before"}},
		"deep":                        {`{"fault": {"why": "the key was used before"}}`, `{"fault": {"why": "the key was used before"}}`, `{}`, map[string]any{"/fault/why": "the key was used before"}},
		"other words each time":       {`{"err": "the key of monday was used"}`, `{"err": "the key of friday was used"}`, `{}`, nil},
		"what another refusal says":   {`{"err": "this can not be done"}`, `{"err": "this can not be done"}`, `{"err": "this can not be done"}`, nil},
		"what the request itself has": {`{"err": "no lamp for this key"}`, `{"err": "no lamp for this key"}`, `{}`, nil},
	} {
		altered := read(c.altered)
		f := &File{Draft: Draft{Body: map[string]any{"title": "lamp"}}}
		got := mismatched(f, Repeated{Altered: &altered, OtherBodies: OtherBodies{Mismatches: []Answer{read(c.again)}, Unlike: []Answer{read(c.unlike)}}})
		require.Equal(t, []int{422}, got.Statuses, name)
		require.Equal(t, c.where, got.Where, name)
	}
}

// TestANaturalKeyThatIsCutHasToBeWhole holds that a row has to have all of a natural key where the database has kept its beginning alone, so that two
// which begin alike are one.
func TestANaturalKeyThatIsCutHasToBeWhole(t *testing.T) {
	t.Parallel()
	for row, c := range map[string]struct {
		cut   bool
		title string // another column
	}{
		"D-refonhy2u2":          {cut: true},
		"D-refonhy2u2j6g4opm7s": {},
		"D-1001":                {}, // of another form
		"refonhy2u2":            {},
		"D-refonhy2":            {title: "D-refonhy2u2j6g4opm7s"},
	} {
		cut := c.cut
		f := File{
			Database: true, Dialect: databases.SQLite, Proof: &Proof{
				Text: "/note", Where: Where{Column: "note", Exact: true}, Row: map[string]string{"ref": row},
				Table: databases.Table{Name: "deliveries", Unique: [][]string{{"ref"}}, Columns: []databases.Column{{Name: "ref", Type: "text"}, {Name: "note", Type: "text"}}},
			},
			Draft: Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"deliveryRef": "D-1001", "note": "lamp"}, Texts: []string{"/note"}, Templates: map[string]string{"/deliveryRef": "D-{{.Intent.Reference}}"}},
		}
		f.Learn(Repeated{First: Answer{Status: 201}, Again: Answer{Status: 201}, Rows: 1, Row: map[string]string{"ref": row, "title": c.title}, Natural: []string{"/deliveryRef"}})
		text, err := f.Text()
		require.NoError(t, err)
		require.Equal(t, cut, strings.Contains(text, "content: {ref: /deliveryRef}"), text)
		require.Equal(t, cut, strings.Contains(text, "select ref"), text)
		require.Equal(t, cut, strings.Contains(text, "Whether /deliveryRef may be cut"), text)
	}
}
