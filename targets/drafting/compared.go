package drafting

import (
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// ofTheMoment matches names of members that may differ from one sending of a request to the next, so that no comparison of bodies holds them.
var ofTheMoment = regexp.MustCompile(`(?i)time|date|stamp|(_|^|/)at$|sent|attempt|retr|tries|version|seq|nonce|locale|lang`)

// decisive matches names of members of which no comparison of bodies may leave out another value: it would be another order or payment.
var decisive = regexp.MustCompile(`(?i)(currency|sku|product|item|article|account|iban|recipient|receiver|payee|beneficiary|destination|payer|plan|size|room|seat|address)$`)

var currencyName = regexp.MustCompile(`(?i)currency$`)

// mostCompared is how many members are tried one by one.
const mostCompared = 4

// Compared are files whose altered body differs from the first in one stored member alone, each in another one: that of the file, other numbers, words
// that tell one order from another, and sentences. The id of another thing is none of them. All bodies of an intent carry one text in them.
func Compared(f File) []File {
	column, _ := Kept(f)
	if f.settle() != nil || column == "" && !keptInLines(f) || f.Draft.Number != "" || !f.Proof.Exact || f.Proof.ByReference {
		return nil
	}
	own, all, may := f.alter.Pointer, []string(nil), map[string]Other{}
	for _, o := range slices.Concat(f.Draft.Others, decisiveWords(f), otherTexts(&f)) {
		a, can := alterable(&f, o)
		list, _ := listAbove(f.Draft.Body, o.Pointer)
		refers := slices.ContainsFunc(f.Proof.Table.Refers, func(r databases.Reference) bool { return r.Column == a.column })
		if all = append(all, o.Pointer); o.Pointer != own && can && a.column != "" && !refers && list == "" && mayCompare(o.Pointer) {
			may[o.Pointer] = o
		}
	}
	oneText := func(other File, unfit ...string) File {
		proof := *other.Proof
		proof.ByReference, proof.Unfit = true, append(slices.Clone(proof.Unfit), unfit...)
		other.Proof = &proof
		return other
	}
	var files []File
	if mayCompare(own) {
		files = append(files, oneText(f))
	}
	if column == "" {
		return files
	}
	for _, pointer := range all {
		o, is := may[pointer]
		if !is || len(files) == mostCompared {
			continue
		}
		delete(may, pointer)
		other := f
		other.Draft.Others = append(slices.Clone(f.Draft.Others), o)
		files = append(files, oneText(other, slices.DeleteFunc(slices.Clone(all), func(at string) bool { return at == pointer })...))
	}
	if other, may := inMarkerAlone(f, all); may {
		files = append(files, other)
	}
	return files
}

// keptInLines reports that the altered member stands in an element of a list, of which each makes a row of its own that refers to the created one and has
// a column called like the member: a comparison may go by what stands beside the list, and forget the lines.
func keptInLines(f File) bool {
	if f.alter == nil || f.alter.unsent || f.alter.marker {
		return false
	}
	at, _ := listAbove(f.Draft.Body, f.alter.Pointer)
	list, _ := jsonpointer.Resolve(f.Draft.Body, at)
	lines, is := list.([]any)
	_, name := jsonpointer.Cut(f.alter.Pointer)
	return is && at != "" && slices.ContainsFunc(f.Children, func(c Child) bool {
		return c.Rows == len(lines) && slices.ContainsFunc(c.Table.Columns, func(column databases.Column) bool { return squeezed(column.Name) == squeezed(name) })
	})
}

// inMarkerAlone is such a file whose altered body differs in its marker alone: a comparison may leave out the very text that has it, as one that
// forgets what stands within another object.
func inMarkerAlone(f File, all []string) (other File, may bool) {
	at := f.Proof.Text
	if f.alter.marker || f.alter.unsent || !mayCompare(at) {
		return f, false
	}
	proof := *f.Proof
	proof.Unfit = append(slices.Clone(proof.Unfit), slices.DeleteFunc(slices.Clone(all), func(p string) bool { return p == at })...)
	other = f
	other.Proof, other.Draft.Others = &proof, nil
	tried := other
	return other, tried.settle() == nil && tried.alter != nil && tried.alter.marker
}

// AlteredAt is the member in which an altered body differs, which may be that of the marker; empty: none.
func AlteredAt(f File) string {
	if f.settle() != nil || f.alter == nil {
		return ""
	}
	return f.alter.Pointer
}

// mayCompare reports that a comparison of bodies would hold a member, by its name.
func mayCompare(pointer string) bool {
	return !ofTheMoment.MatchString(pointer) && (!oneOfFew(pointer, "") || decisive.MatchString(pointer))
}

// decisiveWords are other values of decisive members that hold a word or a code: a currency becomes another one that there is.
func decisiveWords(f File) []Other {
	var all []Other
	Scalars("", f.Draft.Body, func(pointer string, value any) {
		word, isText := value.(string)
		if !isText || word == "" || !decisive.MatchString(pointer) || slices.Contains(f.Draft.Texts, pointer) {
			return
		}
		other := word + "2"
		switch {
		case strings.EqualFold(word, "USD"):
			other = likeCase("EUR", word)
		case currencyName.MatchString(pointer):
			other = likeCase("USD", word)
		case plainWord.MatchString(word):
			other = word + "a"
		}
		all = append(all, Other{pointer, other})
	})
	return all
}

// likeCase is a word in small letters where another one is.
func likeCase(word, like string) string {
	if like == strings.ToLower(like) {
		return strings.ToLower(word)
	}
	return word
}

// Counts reports that another value of the altered member is another order, so that a comparison of bodies must not leave it out: it is what the
// file would alter anyway, a number, or its name says so.
func Counts(f, plain File) bool {
	_, pointer, is := Altered(f)
	if !is { // but for its marker, it is the first one
		return false
	}
	if _, first, _ := Altered(plain); pointer == first {
		return true
	}
	value, _ := jsonpointer.Resolve(f.Draft.Body, pointer)
	switch value := value.(type) {
	case int64, float64:
		return true
	case string:
		return amountLike.MatchString(value) || decimal.MatchString(value) || decisive.MatchString(pointer)
	}
	return false
}
