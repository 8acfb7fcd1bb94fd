package wire

import (
	"bytes"
	"strconv"
)

// mostWords is how many words a command may have.
const mostWords = 1 << 20

// command reads a command of Redis: an array of texts, each with its length before it (RESP). A line of plain words is passed over.
func (r *Reader) command(b []byte) (int, Said, error) {
	if b[0] != '*' {
		_, n, err := line(b)
		return n, Said{}, err
	}
	count, at, err := number(b)
	if err != nil {
		return 0, Said{}, err
	}
	if count > mostWords {
		return 0, Said{}, errOpaque
	}
	words := []string{}
	for range count {
		if at == len(b) {
			return 0, Said{}, errLater
		}
		if b[at] != '$' {
			return 0, Said{}, errOpaque
		}
		length, n, err := number(b[at:])
		if err != nil {
			return 0, Said{}, err
		}
		from := at + n
		if length > mostPending {
			return 0, Said{}, errOpaque
		}
		if at = from + length + len("\r\n"); at > len(b) {
			return 0, Said{}, errLater
		}
		words = append(words, string(b[from:from+length]))
	}
	return at, Said{Command: words}, nil
}

// number reads the number behind the first byte of a line, and how long the line is.
func number(b []byte) (value, length int, err error) {
	text, length, err := line(b)
	if err != nil {
		return 0, 0, err
	}
	value, err = strconv.Atoi(string(text[1:]))
	if err != nil || value < 0 {
		return 0, 0, errOpaque
	}
	return value, length, nil
}

// line reads a line, and how long it is with its end.
func line(b []byte) (text []byte, length int, err error) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return nil, 0, errLater
	}
	return bytes.TrimSuffix(b[:end], []byte("\r")), end + 1, nil
}
