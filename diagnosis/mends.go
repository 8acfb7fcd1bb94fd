package diagnosis

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed mends/*.md
var pages embed.FS

// Page says how a defect is mended in code: a title, a few sentences, and code for each of several databases and stacks.
type Page struct {
	Title, Intro string
	Sections     []Section
}

// Section is the code for one database or stack.
type Section struct {
	Stack    string // such as "PostgreSQL" or "Rails"
	Language string // of Code: "sql", "ruby"; empty: none
	Note     string // before Code; empty: none
	Code     string
}

// Page returns the page of a defect, and whether there is one. It panics where the table names a
// page that does not exist, which a test rules out.
func (d Defect) Page() (Page, bool) {
	if d.How == "" {
		return Page{}, false
	}
	text, err := pages.ReadFile("mends/" + d.How + ".md")
	if err != nil {
		panic(fmt.Sprintf("diagnosis: the defect %s has no page %s.md", d.Name, d.How))
	}
	return parse(string(text)), true
}

// For returns the section of a stack, by its name or a part of it in any case, and whether there is one.
func (p Page) For(stack string) (Section, bool) {
	i := slices.IndexFunc(p.Sections, func(s Section) bool {
		return stack != "" && strings.Contains(strings.ToLower(s.Stack), strings.ToLower(stack))
	})
	if i < 0 {
		return Section{}, false
	}
	return p.Sections[i], true
}

// parse reads a page: a title, an introduction, and a section with one block of code for each stack.
func parse(text string) Page {
	parts := strings.Split(text, "\n## ")
	title, intro, _ := strings.Cut(strings.TrimPrefix(parts[0], "# "), "\n")
	p := Page{Title: title, Intro: oneLine(intro)}
	for _, part := range parts[1:] {
		stack, rest, _ := strings.Cut(part, "\n")
		note, block, _ := strings.Cut(rest, "```")
		language, code, _ := strings.Cut(block, "\n")
		code, _, _ = strings.Cut(code, "\n```")
		p.Sections = append(p.Sections, Section{Stack: stack, Language: language, Note: oneLine(note), Code: strings.ReplaceAll(code, "\t", "    ")})
	}
	return p
}

// oneLine joins the lines of a paragraph.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
