package drafting

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
