package export

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/export/curl"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/sut"
)

// column matches names that mean the same in every database without quotes.
var column = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// additions are by marker what executions of requests add to rows, and whether a script can know that of all that do.
func additions(s *sut.System, requests map[string]driver.Rehearsed) (all map[string]curl.Addition, told bool) {
	all, told = map[string]curl.Addition{}, true
	for _, o := range slices.Concat(s.Operations, s.Ways) {
		if o.Rows.Adds == "" {
			continue
		}
		for _, r := range requests {
			if r.Operation != o.Name {
				continue
			}
			addition, is := additionOf(o.Rows, r.Body)
			if told = told && is; is {
				all[r.Marker] = addition
			}
		}
	}
	return all, told
}

// additionOf is what an execution of a body adds to its row, and whether it can be said in SQL.
func additionOf(rows contract.Rows, body []byte) (curl.Addition, bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var sent any
	if decoder.Decode(&sent) != nil || !column.MatchString(rows.Adds) {
		return curl.Addition{}, false
	}
	said, _ := jsonpointer.Resolve(sent, rows.Content[rows.Adds])
	number, isNumber := said.(json.Number)
	each, err := number.Float64()
	if !isNumber || err != nil || each <= 0 {
		return curl.Addition{}, false
	}
	return curl.Addition{Column: rows.Adds, Each: strconv.FormatFloat(each, 'f', -1, 64)}, true
}
