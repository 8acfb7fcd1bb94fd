package sinks

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// beginMonitor has the server tell of every command. What is pushed to a list cannot be read otherwise without taking it from the
// list's workers, who may have it before anyone looks.
func (f *redisFollower) beginMonitor(ctx context.Context) error {
	if !strings.ContainsAny(f.name, "*?[") {
		if err := f.kept(ctx, "list"); err != nil {
			return err
		}
	}
	if err := f.read.Send("MONITOR"); err != nil {
		return fmt.Errorf("ask Redis: %w", err)
	}
	reply, err := f.read.Receive()
	switch {
	case err != nil:
		return fmt.Errorf("what is pushed to a list is seen by MONITOR only, which the server does not allow: %w", err)
	case reply != "OK":
		return errRedis
	}
	return nil
}

// readCommands reads the commands until the connection ends.
func (f *redisFollower) readCommands() error {
	database := f.read.Database()
	for {
		reply, err := f.read.Receive()
		if err != nil {
			return err
		}
		line, is := reply.(string)
		if !is {
			return errRedis
		}
		in, words, err := readCommand(line)
		if err != nil {
			return err
		}
		if len(words) == 2 && f.marked(words[1]) {
			continue
		}
		if in != database {
			continue
		}
		for _, text := range pushed(words, f.name) {
			f.in.Publish(Published{To: words[1], Body: []byte(text)})
		}
	}
}

// pushed returns what a command pushes to the list of a name.
func pushed(words []string, name string) []string {
	if len(words) < 3 {
		return nil
	}
	if !named(name, words[1], true) {
		return nil
	}
	switch strings.ToUpper(words[0]) {
	case "LPUSH", "RPUSH", "LPUSHX", "RPUSHX":
		return words[2:]
	case "LINSERT":
		return words[len(words)-1:]
	default:
		return nil
	}
}

var errCommand = errors.New("what MONITOR says cannot be understood")

// readCommand understands a line of MONITOR: the time, the number of the database and the client in brackets, and the words of the
// command in quotes.
func readCommand(line string) (database string, words []string, err error) {
	_, rest, is := strings.Cut(line, " [")
	if !is {
		return "", nil, errCommand
	}
	database, rest, _ = strings.Cut(rest, " ")
	_, rest, is = strings.Cut(rest, "] ")
	for is && rest != "" {
		var word string
		if word, rest, is = readWord(rest); is {
			words = append(words, word)
			rest = strings.TrimPrefix(rest, " ")
		}
	}
	if !is {
		return "", nil, errCommand
	}
	return database, words, nil
}

// readWord reads a word in quotes, with the escapes of Redis.
func readWord(text string) (word, rest string, is bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c != '\\':
			b.WriteByte(c)
		case i+3 < len(text) && text[i+1] == 'x':
			n, err := strconv.ParseUint(text[i+2:i+4], 16, 8)
			if err != nil {
				return "", "", false
			}
			b.WriteByte(byte(n))
			i += 3
		case i+1 < len(text):
			i++
			escaped := text[i]
			if at := strings.IndexByte("nrtab", escaped); at >= 0 {
				escaped = "\n\r\t\a\b"[at]
			}
			b.WriteByte(escaped)
		}
	}
	return "", "", false
}
