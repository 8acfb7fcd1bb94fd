package history

import (
	"fmt"
	"io"
	"strings"
)

// texts reads parts of a file as texts, each of which is in memory once.
type texts struct {
	in     io.ReaderAt
	buffer []byte
}

func textsOf(in io.ReaderAt) *texts { return &texts{in: in, buffer: make([]byte, 64<<10)} }

// read reads some bytes of the file.
func (t *texts) read(at extent) (string, error) {
	var text strings.Builder
	text.Grow(int(at.to - at.from))
	for from := at.from; from < at.to; {
		got, err := t.in.ReadAt(t.buffer[:min(int64(len(t.buffer)), at.to-from)], from)
		text.Write(t.buffer[:got])
		from += int64(got)
		if err != nil && from < at.to {
			return "", fmt.Errorf("read history: %w", err)
		}
	}
	return text.String(), nil
}
