package caches

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// encoded is a reply as a server of Redis sends it.
func encoded(reply any) string {
	switch reply := reply.(type) {
	case nil:
		return "$-1\r\n"
	case int:
		return fmt.Sprintf(":%d\r\n", reply)
	case string:
		return fmt.Sprintf("$%d\r\n%s\r\n", len(reply), reply)
	case Refusal:
		return "-" + string(reply) + "\r\n"
	default:
		list := reply.([]any)
		text := fmt.Sprintf("*%d\r\n", len(list))
		for _, one := range list {
			text += encoded(one)
		}
		return text
	}
}

// FuzzReply holds that whatever a server sends is read within bounds, and what was understood comes back as it was.
func FuzzReply(f *testing.F) {
	for _, text := range []string{
		"+OK\r\n", "-ERR no\r\n", ":12\r\n", "$-1\r\n", "*-1\r\n", "$5\r\nhello\r\n", "$2\r\na\n\r\n", "*2\r\n$1\r\na\r\n*1\r\n:-3\r\n", "*0\r\n",
		"$536870912\r\n", "*536870912\r\n", strings.Repeat("*1\r\n", 40), "+1700000000.000001 [0 127.0.0.1:1] \"LPUSH\" \"a\" \"\\x00\"\r\n", "\r\n", "%1\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := Conn{reader: bufio.NewReader(bytes.NewReader(text))}
		reply, err := c.reply()
		if err != nil {
			return
		}
		again := Conn{reader: bufio.NewReader(strings.NewReader(encoded(reply)))}
		same, err := again.reply()
		require.NoError(t, err)
		require.Equal(t, reply, same)
	})
}

func TestAReplyIsBounded(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"$60000000\r\nab":                       "EOF",
		"$70000000\r\nab":                       "larger than 64 MiB",
		"*1000000\r\n:1\r\n":                    "EOF",
		"*2000000\r\n:1\r\n":                    "larger than 64 MiB",
		strings.Repeat("*1\r\n", 17) + ":1\r\n": "nested deeper than 16 lists",
	} {
		c := Conn{reader: bufio.NewReader(strings.NewReader(text))}
		_, err := c.reply()
		require.ErrorContains(t, err, says, "%.20q", text)
	}
	c := Conn{reader: bufio.NewReader(strings.NewReader(fmt.Sprintf(":%d\r\n", math.MaxInt)))}
	n, err := c.reply()
	require.NoError(t, err)
	require.Equal(t, math.MaxInt, n)
}
