package history

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// block is some whole lines of a file, and why there are no more.
type block struct {
	lines      string
	at         int64 // of the first one
	unreadable error // the file was not read
	damage     error // the next line is none
}

// blocks reads a file and hands over whole lines in their order, while the next ones are being read. A last line that was cut
// short is dropped. It ends with the first error, of the reader or of whoever takes lines.
func blocks(in io.ReaderAt, size int64, take func(block) error) error {
	read, stop := make(chan block, 1), make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(read)
		cut(in, size, func(b block) bool {
			select {
			case read <- b:
				return true
			case <-stop:
				return false
			}
		})
	})
	defer reader.Wait()
	defer close(stop)
	for b := range read {
		if err := take(b); err != nil {
			return err
		}
	}
	return nil
}

// cut reads blocks until one is not wanted.
func cut(in io.ReaderAt, size int64, wanted func(block) bool) {
	buffer, held := make([]byte, readSize), 0 // the buffer begins at at
	for at := int64(0); ; {
		got, err := in.ReadAt(buffer[held:min(int64(len(buffer)), size-at)], at+int64(held))
		if err != nil && !errors.Is(err, io.EOF) {
			wanted(block{unreadable: fmt.Errorf("read history: %w", err)})
			return
		}
		held += got
		lines := string(buffer[:held])
		lines = lines[:strings.LastIndexByte(lines, '\n')+1]
		if lines != "" && !wanted(block{lines: lines, at: at}) || got == 0 {
			return
		}
		at += int64(len(lines))
		held = copy(buffer, buffer[len(lines):held])
		switch {
		case held == len(buffer) && buffer[0] != '{':
			wanted(block{damage: errors.New("it is no JSON object")})
			return
		case held == len(buffer) && held > mostLine:
			wanted(block{damage: fmt.Errorf("a line has more than %d MiB", mostLine>>20)})
			return
		case held == len(buffer):
			buffer = append(buffer, make([]byte, len(buffer))...)
		case held == 0 && len(buffer) > 64*readSize: // after a very long line
			buffer = make([]byte, readSize)
		}
	}
}
