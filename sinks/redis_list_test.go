package sinks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inRedisQuotes is a word as MONITOR shows it (sdscatrepr).
func inRedisQuotes(word string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(word) {
		switch c := word[i]; {
		case c == '\\' || c == '"':
			b.WriteString(`\` + string(rune(c)))
		case strings.IndexByte("\n\r\t\a\b", c) >= 0:
			b.WriteString(`\` + "nrtab"[strings.IndexByte("\n\r\t\a\b", c):][:1])
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// FuzzReadCommand holds that a line of MONITOR is understood as it was meant, and that any other line ends in an error or in words.
func FuzzReadCommand(f *testing.F) {
	for _, line := range []string{
		`1700000000.1 [0 127.0.0.1:5] "LPUSH" "a" "b"`, `1 [3 lua] "ECHO" "x\"y"`, `1 [0 unix:/tmp/a b] "SET" "\x00\xff"`, `1 [0 x] "a`, `1 [0 x] "\`, `1 [0 x] "\x1`, `1 [`, ` [ ] `, "",
	} {
		f.Add(line, "key", "value")
	}
	f.Fuzz(func(t *testing.T, line, key, value string) {
		_, words, err := readCommand(line)
		if err == nil {
			_ = pushed(words, key)
		}
		meant := []string{"RPUSH", key, value}
		var quoted []string
		for _, word := range meant {
			quoted = append(quoted, inRedisQuotes(word))
		}
		database, words, err := readCommand("1700000000.123456 [2 127.0.0.1:5] " + strings.Join(quoted, " "))
		require.NoError(t, err)
		require.Equal(t, "2", database)
		require.Equal(t, meant, words)
	})
}
