package wire_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/sinks/wire"
)

// frame is one of AMQP.
func frame(kind byte, channel uint16, payload string) string {
	n := len(payload)
	return string([]byte{kind, byte(channel >> 8), byte(channel), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + payload + "\xce"
}

// published is a message of AMQP: the method, the header with some properties, and the body in two frames.
func published(channel uint16, exchange, key, properties, body string) []string {
	short := func(text string) string { return string(rune(len(text))) + text }
	half := len(body) / 2
	all := []string{
		frame(1, channel, "\x00\x3c\x00\x28\x00\x00"+short(exchange)+short(key)+"\x00"),
		frame(2, channel, "\x00\x3c\x00\x00"+string(binary.BigEndian.AppendUint64(nil, uint64(len(body))))+properties),
	}
	for _, part := range []string{body[:half], body[half:]} {
		if body != "" {
			all = append(all, frame(3, channel, part))
		}
	}
	return all
}

// read is what a reader finds in bytes that come in pieces of a size; before is where the last byte of each lies.
func read(said string, size int) (all []string) {
	var r wire.Reader
	for at := 0; at < len(said); at += size {
		piece := said[at:min(at+size, len(said))]
		r.Read([]byte(piece), func(s wire.Said, before int) bool {
			if before < 0 || before >= len(piece) {
				panic(fmt.Sprint("before is ", before))
			}
			if s.Message != nil {
				all = append(all, fmt.Sprintf("%q %q %v %q", s.Message.Exchange, s.Message.RoutingKey, s.Message.Fields, s.Message.Body))
			} else {
				all = append(all, strings.Join(s.Command, " "))
			}
			return false
		})
	}
	return all
}

func TestWhatAClientSaysIsReadInPiecesOfAnySize(t *testing.T) {
	t.Parallel()
	// Headers with a value of each type; then the content type, a correlation id, a time and an id.
	table := "\x01SS\x00\x00\x00\x02hi\x01tt\x01\x01bb\xff\x01BB\xff\x01ss\xff\xfe\x01uu\xff\xfe\x01II\xff\xff\xff\xfe\x01ii\x00\x00\x00\x02\x01ll\xff\xff\xff\xff\xff\xff\xff\xff" +
		"\x01TT\x00\x00\x00\x00\x00\x00\x00\x09\x01ff\x3f\x80\x00\x00\x01dd\x3f\xf0\x00\x00\x00\x00\x00\x00\x01DD\x00\x00\x00\x00\x01\x01VV\x01xx\x00\x00\x00\x01z\x01FF\x00\x00\x00\x00\x01AA\x00\x00\x00\x00"
	properties := "\xb4\xc0\x04text" + string([]byte{0, 0, 0, byte(len(table))}) + table + "\x02\x02c1" + "\x02m1" + "\x00\x00\x00\x00\x00\x00\x00\x07"
	first, second := published(1, "orders", "order.created", properties, `{"id": 7}`), published(2, "", "jobs", "\x00\x00", "xy")
	rabbit := "AMQP\x00\x00\x09\x01" + frame(1, 0, "\x00\x0a\x00\x0b") + frame(8, 0, "") + // a login, and a heartbeat
		first[0] + first[1] + second[0] + first[2] + second[1] + second[2] + first[3] + second[3] + // two at once
		strings.Join(published(1, "e", "k", "\x00\x00", ""), "")
	redis := "*2\r\n$4\r\nAUTH\r\n$1\r\n\n\r\nPING\r\n*5\r\n$4\r\nXADD\r\n$6\r\norders\r\n$1\r\n*\r\n$1\r\na\r\n$0\r\n\r\n*0\r\n"
	for _, size := range []int{1, 2, 3, 7, 64, 10_000} {
		require.Equal(t, []string{
			`"orders" "order.created" map[A: B:255 D: F: I:-2 S:hi T:9 V: b:-1 content-type:text correlation-id:c1 d:1 f:1 i:2 l:-1 message-id:m1 s:-2 t:true u:65534 x:z] "{\"id\": 7}"`,
			`"" "jobs" map[] "xy"`,
			`"e" "k" map[] ""`,
		}, read(rabbit, size), "pieces of %d", size)
		require.Equal(t, []string{"AUTH \n", "XADD orders * a ", ""}, read(redis, size), "pieces of %d", size)
	}
}

func TestWhatIsNotUnderstoodIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"TLS":                   "\x16\x03\x01\x02\x00",
		"another AMQP":          "AMQP\x03\x01\x00\x00",
		"a count of none":       "*x\r\n",
		"a negative count":      "*-1\r\n",
		"a huge count":          "*99999999\r\n",
		"a huge word":           "*1\r\n$99999999\r\n",
		"a word of no length":   "*1\r\nGET\r\n",
		"a frame without end":   "AMQP\x00\x00\x09\x01\x01\x00\x00\x00\x00\x00\x00\x00",
		"a huge frame":          "AMQP\x00\x00\x09\x01\x01\x00\x00\xff\xff\xff\xff",
		"a header that ends":    "AMQP\x00\x00\x09\x01" + frame(1, 1, "\x00\x3c\x00\x28\x00\x00\x00\x00\x00") + frame(2, 1, "\x00\x3c"),
		"a body that is more":   "AMQP\x00\x00\x09\x01" + strings.Join(published(1, "", "", "\x00\x00", "a")[:2], "") + frame(3, 1, "abc"),
		"a type of its own":     "AMQP\x00\x00\x09\x01" + strings.Join(published(1, "", "", "\x20\x00\x00\x00\x00\x03\x01a?", ""), ""),
		"a table that ends":     "AMQP\x00\x00\x09\x01" + strings.Join(published(1, "", "", "\x20\x00\x00\x00\x00\x09\x01", ""), ""),
		"a line without an end": "*1\r\n$4",
	} {
		for _, size := range []int{1, 1000} {
			require.Empty(t, read(said+strings.Repeat("x", 100), size), name)
		}
	}
}

func TestMessagesOnManyChannelsHaveABound(t *testing.T) {
	t.Parallel()
	var r wire.Reader
	whole := 0
	say := func(frames ...string) {
		for _, one := range frames {
			r.Read([]byte(one), func(wire.Said, int) bool { whole++; return false })
		}
	}
	message := func(channel uint16) []string {
		return published(channel, "e", "k", "\x00\x00", strings.Repeat("x", 1<<20))
	}
	say("AMQP\x00\x00\x09\x01")
	for range 40 {
		say(message(1)...)
	}
	require.Equal(t, 40, whole, "those that came whole take nothing")
	for channel := range uint16(40) {
		begun := message(2 + channel)
		say(begun[:len(begun)-1]...)
	}
	say(message(1)...)
	require.Equal(t, 40, whole, "what comes after so much that is half there is not read any more")
}

func TestAReaderStopsWhereItIsToldTo(t *testing.T) {
	t.Parallel()
	var r wire.Reader
	never := func(wire.Said, int) bool { t.Fatal("nothing is whole"); return false }
	r.Read([]byte("*1\r\n$4\r\nPI"), never)
	at := -1
	r.Read([]byte("NG\r\n*1\r\n$4\r\nQUIT\r\n*1\r\n$4\r\nPING\r\n"), func(s wire.Said, before int) bool {
		at = before
		return s.Command[0] == "QUIT"
	})
	require.Equal(t, 4, at, "what comes before may pass, and nothing of it")
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("*2\r\n$4\r\nAUTH\r\n$1\r\na\r\n"), 3)
	f.Add([]byte("AMQP\x00\x00\x09\x01"+strings.Join(published(1, "e", "k", "\x80\x00\x01a", "xy"), "")), 5)
	f.Fuzz(func(t *testing.T, said []byte, size int) {
		whole := read(string(said), len(said)+1)
		require.Equal(t, whole, read(string(said), 1+(size&15)), "it does not matter how the bytes come")
	})
}
