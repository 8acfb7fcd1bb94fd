package targets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// PayloadKind says what a request carries, by the key of the target file.
type PayloadKind string

// The kinds of payload. The zero value is none.
const (
	NoPayload        PayloadKind = ""
	JSONPayload      PayloadKind = "body"
	FormPayload      PayloadKind = "form"
	MultipartPayload PayloadKind = "multipart"
	TextPayload      PayloadKind = "text"
	QueryPayload     PayloadKind = "query"
)

// Payload returns what the request carries, with its templates.
func (q Request) Payload() (PayloadKind, map[string]any) {
	switch {
	case q.Body != nil:
		return JSONPayload, q.Body
	case q.Form != nil:
		return FormPayload, q.Form
	case q.Multipart != nil:
		return MultipartPayload, q.Multipart
	case q.Text != nil:
		return TextPayload, q.Text
	case q.Query != nil:
		return QueryPayload, q.Query
	default:
		return NoPayload, nil
	}
}

// ChangePayload replaces the members that the request carries. One that carries none stays as it is.
func (q *Request) ChangePayload(change func(members map[string]any) map[string]any) {
	for _, members := range []*map[string]any{&q.Body, &q.Form, &q.Multipart, &q.Text, &q.Query} {
		if *members != nil {
			*members = change(*members)
		}
	}
}

// write puts the members of a payload into the request, which it changes in place.
func (r *Rendered) write(o Operation, members map[string]any) error {
	says, err := encode(members)
	if err != nil {
		return err
	}
	switch kind, _ := o.Request.Payload(); kind {
	case QueryPayload:
		var query []byte
		query, err = formOf(members)
		r.Path = withQuery(r.Path, spaced(string(query)))
		r.Says = says
	case TextPayload:
		r.Body, err = o.text(members)
		r.Says = says
		r.setType(mediaOf(o.Request.Written))
	case FormPayload:
		r.Body, err = formOf(members)
		r.Says = says
		r.setType("application/x-www-form-urlencoded")
	case MultipartPayload:
		var boundary string
		r.Body, boundary, err = multipartOf(members)
		r.Says = says
		r.setHeader("Content-Type", multipartType+boundary)
	default:
		r.Body = says
		r.setType("application/json")
	}
	return err
}

// spaced writes spaces as escapes: not every server takes a plus sign for one.
func spaced(parameters string) string { return strings.ReplaceAll(parameters, "+", "%20") }

// withQuery adds parameters behind those of a path, which stay as they are, to the byte.
func withQuery(path, parameters string) string {
	path, fragment, cut := strings.Cut(path, "#")
	switch {
	case !strings.Contains(path, "?"):
		path += "?"
	case !strings.HasSuffix(path, "?") && !strings.HasSuffix(path, "&"):
		path += "&"
	}
	if path += parameters; cut {
		path += "#" + fragment
	}
	return path
}

// setType names the type of the body where the file does not.
func (r *Rendered) setType(media string) {
	for name := range r.Header {
		if strings.EqualFold(name, "Content-Type") {
			return
		}
	}
	r.setHeader("Content-Type", media)
}

// formOf writes members as a form; a list is as many members of one name.
func formOf(members map[string]any) ([]byte, error) {
	form := url.Values{}
	for name, member := range members {
		texts, err := textsOf(member)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		form[name] = texts
	}
	return []byte(form.Encode()), nil
}

// textsOf returns what a member of a form is: one text, or those of a list.
func textsOf(member any) ([]string, error) {
	list, isList := member.([]any)
	if !isList {
		list = []any{member}
	}
	texts := make([]string, 0, len(list))
	for _, entry := range list {
		text, err := textOf(entry)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// textOf writes a scalar as a form has it. A form has no null, no list and no object.
func textOf(value any) (string, error) {
	switch value := value.(type) {
	case string:
		return value, nil
	case nil, []any, map[string]any:
		return "", errors.New("a form holds texts, numbers and truth values")
	default:
		text, err := encode(value)
		return string(text), err
	}
}

// usualBoundary is between the parts of every body that does not hold it: a repeated request is to be the
// same bytes.
const usualBoundary = "doubletap-7c1e0f5b9a3d4826"

// multipartType is the type of a form in parts, before its boundary.
const multipartType = "multipart/form-data; boundary="

// DivideBy puts another boundary between the parts of a form, which says the same; other requests stay as they are. The
// boundary must be nowhere else in the body.
func (r *Rendered) DivideBy(boundary string) {
	for name, value := range r.Header {
		if now, is := strings.CutPrefix(value, multipartType); is && strings.EqualFold(name, "Content-Type") && r.Says != nil {
			r.Body = bytes.ReplaceAll(r.Body, []byte(now), []byte(boundary))
			r.SetOwnHeader(name, multipartType+boundary)
		}
	}
}

// multipartOf writes members as the parts of a form (RFC 7578); a mapping is a file.
func multipartOf(members map[string]any) (body []byte, boundary string, err error) {
	boundary = usualBoundary
	says, err := encode(members)
	for ; bytes.Contains(says, []byte(boundary)); boundary += "0" {
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	if err == nil {
		err = w.SetBoundary(boundary)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list, isList := members[name].([]any)
		if !isList {
			list = []any{members[name]}
		}
		for _, entry := range list {
			if err == nil {
				err = writePart(w, name, entry)
			}
		}
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), boundary, err
}

// writePart writes one part of a multipart form: a field, or a file where the member is a mapping.
func writePart(w *multipart.Writer, name string, entry any) error {
	file, isFile := entry.(map[string]any)
	if !isFile {
		text, err := textOf(entry)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return w.WriteField(name, text)
	}
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", multipart.FileContentDisposition(name, asText(file["file"])))
	header.Set("Content-Type", asText(file["type"]))
	if asText(file["type"]) == "" {
		header.Set("Content-Type", "application/octet-stream")
	}
	part, err := w.CreatePart(header)
	if err == nil {
		_, err = part.Write([]byte(asText(file["content"])))
	}
	return err
}

// asText is a text, or the empty one where the file has something else or nothing.
func asText(value any) string {
	text, _ := value.(string)
	return text
}

// saying returns the members of a rendered payload.
func (r *Rendered) saying() (map[string]any, error) {
	members := map[string]any{}
	says := r.Body
	if r.Says != nil {
		says = r.Says
	}
	if len(says) == 0 {
		return members, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(says))
	decoder.UseNumber()
	err := decoder.Decode(&members)
	return members, err
}
