package checker

import (
	"fmt"
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// checkContent checks that the columns which the target file names hold what the body said (I5).
func checkContent(e *evaluation, m moment, tr *trace, x bodySide) {
	sent := tr.intent.Bodies[x.body].JSON()
	other, both := tr.intent.Bodies[history.OtherWay]
	for _, row := range x.rows {
		if both && contentIs(row, other, e.terms.operationFor(tr.intent, history.OtherWay).Rows.Content) {
			continue
		}
		for _, column := range slices.Sorted(maps.Keys(tr.operation.Rows.Content)) {
			pointer := tr.operation.Rows.Content[column]
			want, declared, _ := find(sent, pointer)
			got, there := row[column]
			if !declared || there && same(want, normalise(got)) {
				continue
			}
			if !there {
				e.doubt("the row query returns no column %s, which rows.content names", column)
				continue
			}
			e.report(m, tr, Finding{
				Kind: AlteredBody, Detail: "content",
				Promise:  "A row holds the content of exactly one body that was sent.",
				Expected: fmt.Sprintf("%s = %s, as the %s body says at %s", column, show(want), x.body, pointer),
				Observed: fmt.Sprintf("%s = %s", column, show(normalise(got))),
			})
			return
		}
	}
}

// holds reports that the columns which the target file names hold what a body said.
func holds(tr *trace, row history.Row, body string) bool {
	return contentIs(row, tr.intent.Bodies[body], tr.operation.Rows.Content)
}

// contentIs reports that columns of a row hold what a body says at the pointers of a target file.
func contentIs(row history.Row, body history.Body, content map[string]string) bool {
	sent, _ := parse(body.JSON())
	for column, pointer := range content {
		want, declared := jsonpointer.Resolve(sent, pointer)
		if got, there := row[column]; declared && (!there || !same(want, normalise(got))) {
			return false
		}
	}
	return true
}

// same compares a sent value with a stored one. Databases return numbers as text and text as numbers, so two values
// that read the same are the same.
func same(sent, stored any) bool {
	if text, ok := stored.(string); ok {
		if value, ok := parse(text); ok && equal(sent, value) {
			return true
		}
	}
	return equal(sent, stored) || plain(exactly(asNumber(sent))) == plain(exactly(asNumber(stored)))
}

// asNumber turns a truth value into the number that databases without truth values store.
func asNumber(value any) any {
	switch value {
	case true:
		return exact("1")
	case false:
		return exact("0")
	default:
		return value
	}
}

// exactly turns a text that reads as a number into an exact number.
func exactly(value any) any {
	if text, ok := value.(string); ok {
		return exact(text)
	}
	return value
}
