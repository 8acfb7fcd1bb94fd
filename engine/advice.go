package engine

import (
	"fmt"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
)

// CorrectTarget is what is advised where no line of the target file is more likely to be wrong than the target.
const CorrectTarget = "correct the target, or say in contract what it promises"

// Advice says what to do about a finding of the doctor: which lines of the target file would make a correct target look like that come
// first, as a file that was written by hand is seldom right at once. Together says that the requests came at the same time, when only
// the target does what a line of the file cannot explain.
func Advice(f checker.Finding, o driver.Operation, promise contract.Contract, together bool) string {
	rows, file := o.Rows, ""
	switch query := rowsLine(o); {
	case f.Kind == checker.Duplicate && !together:
		file = fmt.Sprintf("a repetition is executed: see first whether %s, and then whether %s finds the created thing, and not a line for each request as in a log", sameThing(o, promise), query)
	case f.Kind == checker.ReplayMismatch && f.Promise == checker.ExistingRowPromise:
		file = fmt.Sprintf("see first whether identity (%s) is what names the created thing, and whether %s finds that thing", o.Identity, query)
		if rows.Identity != "" {
			file += fmt.Sprintf(" and rows.identity (%s) is the column with that name", rows.Identity)
		}
	case f.Kind == checker.LostWrite:
		file = fmt.Sprintf("see first whether %s finds what the target makes", query)
	case f.Kind == checker.AlteredBody && f.Detail == "content":
		column, _, _ := strings.Cut(f.Expected, " = ")
		file = fmt.Sprintf("see first whether rows.content is right: whether column %s holds what the request has at %s, in the same unit", column, rows.Content[column])
	default:
		return CorrectTarget
	}
	return file + "; if so, " + CorrectTarget
}

// rowsLine names the line of the target file by which the rows are found.
func rowsLine(o driver.Operation) string {
	if o.Rows.HTTP != nil {
		return "rows.http"
	}
	return "rows.query"
}

// sameThing is what makes requests repetitions, as a question about the target file.
func sameThing(o driver.Operation, promise contract.Contract) string {
	switch {
	case o.Key.In == contract.KeyInPath:
		return "the API takes the end of the path for the key (key.in)"
	case o.Key.In != contract.KeyNowhere && o.Key.Name != "":
		return fmt.Sprintf("the API reads its key where key.in and key.name say (%s %s)", o.Key.In, o.Key.Name)
	case o.Key.In != contract.KeyNowhere:
		return fmt.Sprintf("the API reads its key where key.in says (%s)", o.Key.In)
	case len(promise.NaturalKey) > 0:
		return fmt.Sprintf("the API takes requests that are alike in contract.natural_key (%s) for one", strings.Join(promise.NaturalKey, ", "))
	}
	return "the API promises that equal requests are one"
}
