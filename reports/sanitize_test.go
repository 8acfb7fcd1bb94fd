package reports_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/reports"
)

// drawn fills a value of any of the report's types: what a struct gains tomorrow is drawn as well.
func drawn(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(drawString(t))
	case reflect.Struct:
		for i := range v.NumField() {
			drawn(t, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 3))
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			item := reflect.New(v.Type().Elem()).Elem()
			drawn(t, item)
			v.Set(reflect.Append(v, item))
		}
	case reflect.Map:
		drawMap(t, v)
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "present") {
			v.Set(reflect.New(v.Type().Elem()))
			drawn(t, v.Elem())
		}
	case reflect.Interface:
		values := []any{nil, drawString(t), 1.5, 1e300, -3.0, true}
		if value := rapid.SampledFrom(values).Draw(t, "value"); value != nil {
			v.Set(reflect.ValueOf(value))
		}
	default:
		drawNumber(t, v)
	}
}

func drawMap(t *rapid.T, v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	for range rapid.IntRange(0, 3).Draw(t, "entries") {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		drawn(t, key)
		drawn(t, value)
		v.SetMapIndex(key, value)
	}
}

func drawNumber(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		extremes := []int64{0, 0, 1, 2, 7, 201, 1e6, 3e8, -1, math.MinInt64, math.MaxInt64}
		v.SetInt(rapid.OneOf(rapid.SampledFrom(extremes), rapid.Int64Range(0, 5e9)).Draw(t, "int"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	}
}

func drawString(t *rapid.T) string {
	known := []string{"", "original", "altered", "T1", "duplicate", "timeout", "i001", nasty, "{}", "\x1b[2J", "]]>", "```", "\u202e"}
	return rapid.OneOf(rapid.SampledFrom(known), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string {
		return string(b)
	})).Draw(t, "string")
}

func drawReport(t *rapid.T) checker.Report {
	var r checker.Report
	drawn(t, reflect.ValueOf(&r).Elem())
	return r
}

func TestNoReportBreaksARenderer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { check(t, drawReport(t)) })
}

// check holds what must be true of every rendering of every report.
func check(t require.TestingT, r checker.Report) {
	for _, s := range []reports.Style{{}, {Width: 60}, {Width: 1 << 30, Color: true, Names: 1 << 30}, {Width: -5, Names: -5}} {
		harmless(t, text(s), r)
	}
	harmless(t, reports.Markdown, r)
	page := parsePage(t, harmless(t, reports.HTML, r))
	require.Empty(t, page.faults(), "markup from the outside, or a page that does not hold together")
	require.Less(t, page.size, mostHTML)
	require.NoError(t, xml.Unmarshal(harmless(t, reports.JUnit, r), new(parsedSuites)))
	require.True(t, json.Valid(harmless(t, reports.JSON, r)))
}

// harmless renders and returns what was rendered, which must print and do nothing else.
func harmless(t require.TestingT, f renderer, r checker.Report) []byte {
	var b bytes.Buffer
	require.NoError(t, f(&b, r))
	require.True(t, utf8.Valid(b.Bytes()))
	at := strings.IndexFunc(withoutColour(b.String()), func(c rune) bool {
		return c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c))
	})
	require.Equal(t, -1, at, "a control character in the output")
	return b.Bytes()
}

func withoutColour(s string) string {
	return regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(s, "")
}

func TestFixturesAreHarmless(t *testing.T) {
	t.Parallel()
	for _, r := range fixtures() {
		check(t, r)
	}
}

// FuzzRenderers puts one string and a few times everywhere at once.
func FuzzRenderers(f *testing.F) {
	f.Add(nasty, int64(1), int64(2), int64(3), 201, true)
	f.Add("", int64(math.MinInt64), int64(math.MaxInt64), int64(0), 0, false)
	f.Fuzz(func(t *testing.T, s string, start, wrote, end int64, status int, complete bool) {
		finding := altered()
		finding.Kind, finding.Detail, finding.Promise = checker.Kind(s), s, s
		a := &finding.Attempts[1]
		a.ID, a.Lane, a.Key, a.Content, a.Error, a.ErrorKind = s, s, s, s, s, history.ErrorKind(s)
		a.Start, a.Wrote, a.End = history.Offset(start), history.Offset(wrote), history.Offset(end)
		a.Status, a.Complete = status, complete
		a.Passage = &history.Passage{Arrived: history.Offset(end), Answered: history.Offset(start), Status: status}
		finding.Rows[0].Rows[0] = history.Row{s: s}
		res := passed(s, status)
		res.Verdict, res.Findings, res.Reasons = checker.Verdict(status), []checker.Finding{finding}, []string{s}
		check(t, report(checker.Fail, res))
	})
}
