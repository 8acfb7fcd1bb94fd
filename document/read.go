package document

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// read turns the text into the nodes of its only document.
func (d *Document) read() (*yaml.Node, Mistakes) {
	if len(d.source) > MaxBytes {
		return nil, Mistakes{d.at(1, 1, "the file is larger than 1 MiB")}
	}
	if offset, text := unreadable(d.source); text != "" {
		line, column := lineAndColumn(d.source, offset)
		return nil, Mistakes{d.at(line, column, text)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(d.source))
	var first, second yaml.Node
	err := decoder.Decode(&first)
	if errors.Is(err, io.EOF) {
		return nil, Mistakes{d.at(1, 1, "the file is empty")}
	}
	if err == nil {
		if err = decoder.Decode(&second); err == nil {
			return nil, Mistakes{d.at(second.Line, second.Column, "a second document begins here; a file holds one")}
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, Mistakes{d.syntax(err)}
	}
	return first.Content[0], nil
}

// unreadable finds the first byte that no YAML file may hold.
func unreadable(data []byte) (offset int, text string) {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return i, "this byte is not UTF-8 text"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
			return i, "this is a control character, which a YAML file cannot hold"
		}
		i += size
	}
	return 0, ""
}

// lineAndColumn counts both from 1; columns are characters, as editors count them.
func lineAndColumn(data []byte, offset int) (line, column int) {
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// syntax gives a syntax error its place. The library names the line in which the surrounding block
// begins, and no column; the culprit is the last line of the shortest beginning that fails alike.
func (d *Document) syntax(err error) Mistake {
	problem := syntaxProblem(err)
	lines := bytes.SplitAfter(d.source, []byte("\n"))
	n := sort.Search(len(lines), func(n int) bool {
		return syntaxProblem(readAll(bytes.Join(lines[:n+1], nil))) == problem
	})
	n = min(n, len(lines)-1)
	line := lines[n]
	column := len(line) - len(bytes.TrimLeft(line, " ")) + 1
	return d.at(n+1, column, "this is not valid YAML: "+problem+advice(problem, string(line)))
}

// advice says what mostly causes a syntax error.
func advice(problem, line string) string {
	switch {
	case strings.HasPrefix(problem, "did not find expected ','") && strings.Contains(line, "${"):
		return " (inside brackets, ${NAME} needs quotes)"
	case strings.HasPrefix(problem, "did not find expected ','"):
		return " (a comma stands between the members of { } and of [ ]; is every bracket closed?)"
	case strings.Contains(problem, "mapping values are not allowed"):
		return " (a text with a colon needs quotes; an entry begins below its neighbours)"
	case strings.HasPrefix(problem, "did not find expected"):
		return " (does the line begin below its neighbours, and is every bracket closed?)"
	case strings.Contains(problem, "cannot start any token"):
		return " (a text that begins with this character needs quotes; indentation takes spaces, not tabs)"
	}
	return ""
}

// readAll reads every document of a text, for its first error.
func readAll(data []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		if err := decoder.Decode(&n); err != nil {
			return err
		}
	}
}

// syntaxProblem is what is wrong, without the line: two beginnings of a file fail alike if it is
// the same.
func syntaxProblem(err error) string {
	if errors.Is(err, io.EOF) {
		return ""
	}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	return regexp.MustCompile(`^line \d+: `).ReplaceAllString(text, "")
}
