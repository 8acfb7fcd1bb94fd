package drafting

import (
	"mime"
	"regexp"
	"slices"
	"strings"
)

// wholeText is the member of a body that is one text, as a page or a message is.
const wholeText = "text"

// property matches a line that gives a name a value, as iCalendar, vCard and YAML write it: the parameters of a name may hold colons in quotes.
var property = regexp.MustCompile(`^([ \t]*(?:- )?)([A-Za-z][\w-]*)((?:;(?:[^":]|"[^"]*")*)?:[ \t]*)([^ \t].*)$`)

// fixed matches what a property says by its form and not by what people write: BEGIN:VCALENDAR, VERSION:2.0, CLASS:PUBLIC, a moment without dashes.
var fixed = regexp.MustCompile(`^([A-Z][A-Z-]*|[0-9]+(\.[0-9]+)+|-//.*|[0-9]{8}(T[0-9]{6}Z?)?|[|>&*!\[{].*)$`)

// readText takes a body that its Content-Type calls a text; false: it is another one. What each line names is a member, or the cells of a
// table are, or the whole text is.
func (c *Request) readText(text string) bool {
	kind := c.mediaType()
	if !isText(kind) || strings.TrimSpace(text) == "" {
		return false
	}
	if kind == "text/csv" && c.readTable(text) || c.readProperties(text) {
		return true
	}
	behind := text[len(strings.TrimRight(text, "\r\n")):]
	c.Body, c.Written = map[string]any{wholeText: strings.TrimSuffix(text, behind)}, "{{."+wholeText+"}}"+behind
	return true
}

// isText reports that people read what is of a media type, and that its lines mean something.
func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || kind == "application/yaml" || kind == "application/x-yaml"
}

// mediaType is what the request says that its body is, without parameters.
func (c *Request) mediaType() string {
	for _, h := range c.Header {
		if strings.EqualFold(h[0], "Content-Type") {
			kind, _, _ := mime.ParseMediaType(h[1])
			return kind
		}
	}
	return ""
}

// readProperties takes the values that lines name for members, where each line that is not folded names one; false: some line is a sentence.
func (c *Request) readProperties(text string) bool {
	p := properties{members: map[string]any{}}
	for line := range strings.Lines(text) {
		plain := strings.TrimRight(line, "\r\n")
		if !p.read(plain) {
			return false
		}
		p.written.WriteString(line[len(plain):])
	}
	if len(p.members) == 0 || p.named < 2 {
		return false
	}
	c.Body, c.Written = p.members, p.written.String()
	return true
}

// properties are lines that give names values, as far as they are read.
type properties struct {
	members map[string]any
	written strings.Builder
	named   int
	secret  bool // what the last name has may be a secret, also on the lines that belong to it
}

// secretMember is the name of a member that becomes a variable.
const secretMember = "secret"

// read takes a line, without its end; false: it is a sentence.
func (p *properties) read(line string) bool {
	parts := property.FindStringSubmatch(line)
	within := parts == nil && line != "" && strings.Contains(" \t-", line[:1])
	if within && p.secret {
		value := strings.TrimLeft(line, " \t-")
		p.write(line[:len(line)-len(value)], secretMember, value)
		return true
	}
	head, _, _ := strings.Cut(line, ":")
	p.secret = HoldsSecret(head)
	if parts == nil {
		ends := strings.HasSuffix(line, ":") // it is the head of what follows
		p.write(line, "", "")
		return p.named > 0 && (line == "" || within || ends) || ends && !strings.Contains(line, " ") || line == "---"
	}
	p.named++
	before, value := parts[1]+parts[2]+parts[3], parts[4]
	switch {
	case strings.HasPrefix(value, "{") && secretName.MatchString(value): // names within the line
		p.write(before, secretMember, value)
	case fixed.MatchString(value) && (!p.secret || strings.Trim(value, "|>+-") == ""):
		p.write(line, "", "")
	default:
		p.write(before, parts[2], value)
	}
	return true
}

// write writes a text as it is, and behind it the value of a member, if there is one.
func (p *properties) write(text, name, value string) {
	p.written.WriteString(literally(text))
	if value != "" {
		name = member(name, p.members)
		p.members[name] = value
		p.written.WriteString("{{." + name + "}}")
	}
}

// readTable takes the cells below the names of the columns for members; false: a cell is quoted or missing, or there is no row.
func (c *Request) readTable(text string) bool {
	head, rows, _ := strings.Cut(text, "\n")
	columns := strings.Split(strings.TrimRight(head, "\r"), ",")
	if strings.Contains(text, `"`) || strings.TrimSpace(rows) == "" || slices.ContainsFunc(columns, func(name string) bool { return !columnName.MatchString(name) }) {
		return false
	}
	members := map[string]any{}
	written := literally(head) + "\n"
	for line := range strings.Lines(rows) {
		plain := strings.TrimRight(line, "\r\n")
		cells := strings.Split(plain, ",")
		if len(cells) != len(columns) {
			return false
		}
		for i, value := range cells {
			if value != "" {
				name := member(columns[i], members)
				members[name], cells[i] = value, "{{."+name+"}}"
			}
		}
		written += strings.Join(cells, ",") + line[len(plain):]
	}
	c.Body, c.Written = members, written
	return true
}

// columnName matches what a template can name.
var columnName = regexp.MustCompile(`^[A-Za-z][\w.-]*$`)
