package history

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
)

// texts reads parts of a file, with one buffer for all of them. Not safe for concurrent
// use.
type texts struct {
	in     io.ReaderAt
	buffer []byte
}

func textsOf(in io.ReaderAt) *texts { return &texts{in: in} }

// read reads some bytes of the file.
func (t *texts) read(at extent) (string, error) {
	err := t.fill(at)
	return string(t.buffer), err
}

// fill reads some bytes of the file into the buffer.
func (t *texts) fill(at extent) error {
	size := int(at.to - at.from)
	if size > cap(t.buffer) {
		t.buffer = make([]byte, size)
	}
	t.buffer = t.buffer[:size]
	if n, err := t.in.ReadAt(t.buffer, at.from); err != nil && !(n == size && errors.Is(err, io.EOF)) {
		return fmt.Errorf("read history: %w", err)
	}
	return nil
}

// textOfLines is about how many bytes of lines are one text: whoever keeps a word of a line keeps that much.
const textOfLines = 4 << 10

// lines reads whole lines, and hands over each with where it is.
func (t *texts) lines(at extent, take func(line string, from int64) error) error {
	if err := t.fill(at); err != nil {
		return err
	}
	for rest, from := t.buffer, at.from; len(rest) > 0; {
		end := bytes.LastIndexByte(rest[:min(textOfLines, len(rest))], '\n') + 1
		if end == 0 {
			end = cmp.Or(bytes.IndexByte(rest, '\n')+1, len(rest))
		}
		for line := range strings.Lines(string(rest[:end])) {
			if err := take(line, from); err != nil {
				return err
			}
			from += int64(len(line))
		}
		rest = rest[end:]
	}
	return nil
}
