package history

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// block is some whole lines of a file, and why there are no more.
type block struct {
	lines      string
	at         int64 // of the first one
	unreadable error // the file was not read
	damage     error // the next line is none
}

// blocks reads a file in whole lines. A last line that was cut short is dropped.
func blocks(in io.ReaderAt, size int64) iter.Seq[block] {
	return func(yield func(block) bool) {
		buffer, held := make([]byte, readSize), 0 // the buffer begins at at
		for at := int64(0); ; {
			got, err := in.ReadAt(buffer[held:min(int64(len(buffer)), size-at)], at+int64(held))
			if err != nil && !errors.Is(err, io.EOF) {
				yield(block{unreadable: fmt.Errorf("read history: %w", err)})
				return
			}
			// Cut at the last line feed; what follows it is the beginning of the next
			// block.
			held += got
			lines := string(buffer[:held])
			lines = lines[:strings.LastIndexByte(lines, '\n')+1]
			if lines != "" && !yield(block{lines: lines, at: at}) || got == 0 {
				return
			}
			at += int64(len(lines))
			held = copy(buffer, buffer[len(lines):held])
			switch {
			case held == len(buffer) && buffer[0] != '{':
				yield(block{damage: errors.New("it is no JSON object")})
				return
			case held == len(buffer) && held > mostLine:
				yield(block{damage: fmt.Errorf("a line has more than %d MiB", mostLine>>20)})
				return
			case held == len(buffer):
				buffer = append(buffer, make([]byte, len(buffer))...)
			case held == 0 && len(buffer) > 64*readSize: // after a very long line
				buffer = make([]byte, readSize)
			}
		}
	}
}
