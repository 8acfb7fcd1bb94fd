package drafting

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// part is one part of a form as the command gives it.
type part struct {
	text    string // NAME=VALUE
	literal bool   // a VALUE that begins like the name of a file is none
}

// Upload is a file that a part of a form names.
type Upload struct {
	Member string // of the body
	Path   string
	field  bool // the part is a field with what the file holds, and no file

	whole, oneLine bool // it is the body; as curl sends it, without the ends of its lines
}

// Whole reports that the file holds the body, and not a part of a form.
func (u Upload) Whole() bool { return u.whole }

// ReadBody takes what a file holds for the body.
func (c *Request) ReadBody(u Upload, content []byte) error {
	if !utf8.Valid(content) || bytes.ContainsRune(content, 0) {
		return errors.New("it holds no text")
	}
	text := string(content)
	if u.oneLine {
		text = strings.NewReplacer("\r", "", "\n", "").Replace(text)
	}
	return c.read(text)
}

// standIn is what a file holds in the draft as long as it is not known.
const standIn = "sample"

// readParts reads a form with parts. What a file holds is filled in by [Request.Fill].
func (c *Request) readParts(parts []part) error {
	c.Form, c.Multipart, c.Body = true, true, map[string]any{}
	for _, p := range parts {
		name, value, named := strings.Cut(p.text, "=")
		if !named || name == "" {
			return fmt.Errorf("-F %s is no NAME=VALUE", p.text)
		}
		if c.Body[name] != nil {
			return fmt.Errorf("its form has %s more than once", name)
		}
		c.Body[name] = value
		if p.literal || value == "" || value[0] != '@' && value[0] != '<' {
			continue
		}
		file, called, media := fileOf(value[1:])
		if file == "-" {
			return fmt.Errorf("-F %s is read from standard input: name a file", p.text)
		}
		c.Files = append(c.Files, Upload{Member: name, Path: file, field: value[0] == '<'})
		if c.Body[name] = standIn; value[0] == '@' {
			content := map[string]any{"file": called, "content": standIn}
			if media != "" {
				content["type"] = media
			}
			c.Body[name] = content
		}
	}
	return nil
}

// fileOf reads what stands behind @: the path of a file, and what it is called in the form and its type, where curl would send one.
func fileOf(text string) (file, called, media string) {
	file, rest, _ := strings.Cut(text, ";")
	file = strings.Trim(file, `"`)
	called, media = path.Base(file), usualType(file)
	for option := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(option), "=")
		switch value = strings.Trim(value, `"`); {
		case name == "type":
			media = value
		case name == "filename":
			called = value
		case media != "" && strings.Contains(option, "="): // a parameter of the type, such as charset=utf-8
			media += ";" + option
		}
	}
	return file, called, media
}

// usualType is the type that curl gives a file by its name; empty: it knows none, and says that these are bytes.
func usualType(file string) string {
	return map[string]string{
		".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain",
		".htm": "text/html", ".html": "text/html", ".pdf": "application/pdf", ".xml": "application/xml",
	}[strings.ToLower(path.Ext(file))]
}

// Fill puts what a file holds into the body, and reports whether it can: a target file holds texts.
func (c *Request) Fill(u Upload, content []byte) bool {
	text := string(content)
	if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
		return false
	}
	at := jsonpointer.Of(u.Member)
	if !u.field {
		at += "/content"
	}
	c.Body, _ = Put(c.Body, at, text).(map[string]any)
	return true
}

// uploaded are the members of the files of a form.
func uploaded(d Draft) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(d.Body)) {
		if file, isPart := d.Body[name].(map[string]any); isPart && file["file"] != nil {
			for member := range file {
				all = append(all, jsonpointer.Of(name)+jsonpointer.Of(member))
			}
		}
	}
	return all
}

// inFiles are the members of the files of a form that may have a marker where no other part takes one: their names, and what they hold.
func inFiles(d Draft) []string {
	if !d.Multipart {
		return nil
	}
	all := slices.DeleteFunc(uploaded(d), func(pointer string) bool { return strings.HasSuffix(pointer, "/type") })
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(b, a) }) // the name of a file before its content
	return all
}

// inFile is the template of a file's name with the marker, which keeps its end, or of its content, which goes ahead of the marker.
func inFile(pointer, text string) string {
	if strings.HasSuffix(pointer, "/file") {
		return markerTemplate + Escape(path.Ext(text))
	}
	if text == standIn {
		return markerTemplate
	}
	return Escape(text) + markerTemplate
}
