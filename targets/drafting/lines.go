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
	members := map[string]any{}
	var written strings.Builder
	named, secret := 0, false // whether a line belongs to a name that may hold a secret
	for line := range strings.Lines(text) {
		plain := strings.TrimRight(line, "\r\n")
		parts := property.FindStringSubmatch(plain)
		below := secret && parts == nil && (strings.HasPrefix(plain, " ") || strings.HasPrefix(plain, "\t") || strings.HasPrefix(plain, "-"))
		if head, _, _ := strings.Cut(plain, ":"); !below {
			secret = HoldsSecret(head)
		}
		switch {
		case below: // it becomes a variable, as what follows the name on its line does
			value := strings.TrimLeft(plain, " \t-")
			if written.WriteString(literally(plain[:len(plain)-len(value)])); value != "" {
				name := member("secret", members)
				members[name] = value
				written.WriteString("{{." + name + "}}")
			}
			written.WriteString(line[len(plain):])
		case parts != nil && secretName.MatchString(parts[4]) && strings.HasPrefix(parts[4], "{"): // names within the line
			named++
			name := member("secret", members)
			members[name] = parts[4]
			written.WriteString(literally(parts[1]+parts[2]+parts[3]) + "{{." + name + "}}" + line[len(plain):])
		case parts != nil && fixed.MatchString(parts[4]) && (!secret || strings.Trim(parts[4], "|>+-") == ""):
			named++
			written.WriteString(literally(line))
		case parts != nil:
			named++
			name := member(parts[2], members)
			members[name] = parts[4]
			written.WriteString(literally(parts[1]+parts[2]+parts[3]) + "{{." + name + "}}" + line[len(plain):])
		case named > 0 && (plain == "" || strings.ContainsAny(plain[:1], " \t-") || strings.HasSuffix(plain, ":")): // folded, a list, or the head of what follows
			written.WriteString(literally(line))
		case strings.HasSuffix(plain, ":") && !strings.Contains(plain, " ") || plain == "---":
			written.WriteString(literally(line))
		default:
			return false
		}
	}
	if len(members) == 0 || named < 2 {
		return false
	}
	c.Body, c.Written = members, written.String()
	return true
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
