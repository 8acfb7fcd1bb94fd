package lightjson_test

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/lightjson"
)

// FuzzValue holds that encoding/json makes the same of every text that is taken.
func FuzzValue(f *testing.F) {
	for _, text := range append(taken(), refused()...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, ok := read(text)
		if !ok {
			return
		}
		var want any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&want), text)
		_, err := decoder.Token()
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, want, value)
	})
}

func read(text string) (any, bool) {
	in := lightjson.Of(text)
	value := in.Value(func(number string) any { return json.Number(number) })
	return value, in.Whole()
}

func taken() []string {
	return []string{
		`null`, ` true `, `false`, `""`, `"a"`, `"ü😀"`, `"a\"\\\/\b\f\n\r\t\u0041\u00fC\u2028b"`, `0`, `-0`, `-12.50e+3`, `1E5`, `0.1`, `123456789012345678901234567890`,
		`[]`, `[ ]`, `[1,[2,{"a":[]}]]`, `{}`, `{ }`, `{"a":1,"b":{"c":null},"a":2}`, "\t[\n1 ,\r2 ]\n",
	}
}

func refused() []string {
	return []string{
		``, ` `, `nul`, `nulls`, `tru`, `"`, `"a`, `"\`, `"\u12`, `"\u12g4"`, `"\x"`, `"\ud83d\ude00"`, "\"\xff\"", "\"\\n\xff\"", "\"\n\"", "\"\\n\n\"", `01`, `-`, `1.`, `.1`, `1e`, `1e+`, `+1`, `--1`,
		`[`, `[1`, `[1,`, `[1,]`, `[,]`, `[1 2]`, `]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{a:1}`, `{"a" 1}`, `{1:2}`, `1 2`, `[}`, `{]`,
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
	}
}

func TestWhatIsCommonIsTaken(t *testing.T) {
	t.Parallel()
	for _, text := range taken() {
		_, ok := read(text)
		require.True(t, ok, text)
	}
	for _, text := range refused() {
		_, ok := read(text)
		require.False(t, ok, text)
	}
}

func TestNumbersAreBounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"9223372036854775807": true, "9223372036854775808": false, "-9223372036854775808": true, "1.0": false, "1e3": false} {
		in := lightjson.Of(text)
		n := in.Int()
		require.Equal(t, want, in.Whole(), text)
		if want {
			require.Equal(t, text, strconv.FormatInt(n, 10))
		}
	}
	in := lightjson.Of("1e999")
	require.Zero(t, in.Float())
	require.False(t, in.Whole(), "no float64 is so large")
	in = lightjson.Of(`{"a":1,"a":2}`)
	var seen lightjson.Fields
	for in.Open('{'); in.More('}'); in.Int() {
		in.Name()
		seen.Once(&in, 0)
	}
	require.False(t, in.Whole(), "a member that comes twice")
}

// TestWholeNumbersOfEveryLength holds that the short way and the long way to read a number agree with encoding/json.
func TestWholeNumbersOfEveryLength(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0", "7", "-7", " 42", "00", "07", "-0", "1e3", "1E3", "1.5", "1.", "-", "", "x",
		"999999999999999999", "1000000000000000000", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616",
	} {
		var want int64
		bad := json.Unmarshal([]byte(text), &want) != nil
		in := lightjson.Of(text)
		got := in.Int()
		require.Equal(t, !bad, in.Whole(), text)
		if !bad {
			require.Equal(t, want, got, text)
		}
	}
}
