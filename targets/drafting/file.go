package drafting

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// File is what is known when a target file is written.
type File struct {
	Target  string // its name
	Source  string // what it was made from, for a comment
	Schema  string // where editors find the schema of target files; empty: nowhere
	BaseURL string
	Access
	Draft     Draft
	Database  bool // one was given; its URL is the variable DATABASE_URL
	Dialect   databases.Dialect
	Proof     *Proof // nil: no create has proven where rows are
	Children  []Child
	Start     *Start    // how the target is started; nil: it is there
	Services  []Service // others that the environment names
	Doubts    []string
	KeySeen   string   // what a key was known by that the source does not name; empty: the source names it, or there is none
	KeysTried []string // headers of which none was a key
	Success   Success  // by which the answer to the create said that it was done
	Limit     Limit    // of requests
	Differing []string // members that differ from create to create, besides addresses

	alter  *alteration
	same   []string // members that do not
	learnt learnt
	out    strings.Builder
}

// Access is how the target is reached, besides its URL.
type Access struct {
	AllowHosts []string
	TLS        Certificates
	Listing    *Asked // what it lists of what was created; nil: not known
	Steady     bool   // headers stay as the source has them, whatever the body says: they may say who asks
}

// Child is a table whose rows refer to the created thing.
type Child struct {
	Table  databases.Table
	By     databases.Reference
	Rows   int  // that one create has made
	Varies bool // with what an altered body says, or by itself
	Uneven bool // equal creates have made different numbers, of which Rows is the least
	Again  int  // that it had when the create had been repeated; 0: not counted

	Implied bool // no foreign key says so
	Whole   bool // creates leave no rows that refer to nothing
	Orphans int  // rows that refer to nothing, after the first create
	Since   int  // and those that came since, after creates that were repeated or sent at once
	Kind    Kind // of thing to which a row refers, where it may be of several tables
}

// Kind is what a column of a row says of the kind of thing to which the row refers; no column: nothing.
type Kind struct{ Column, Value string }

// Doubt notes a sentence for the head of the file, once.
func (f *File) Doubt(format string, args ...any) {
	if doubt := fmt.Sprintf(format, args...); !slices.Contains(f.Doubts, doubt) {
		f.Doubts = append(f.Doubts, doubt)
	}
}

// Text writes the target file. It works on a copy, so that it can be called with what is known so
// far, again and again.
func (f File) Text() (string, error) {
	f.Doubts = append(slices.Clone(f.Draft.Doubts), f.Doubts...)
	if err := f.settle(); err != nil {
		return "", err
	}
	f.doubtProof()
	f.doubtContract()
	doubtQuery(&f)
	doubtLimit(&f)
	doubtStart(&f)
	f.head()
	f.contract()
	f.signingIn()
	f.operation()
	return f.out.String(), nil
}

// Trial writes a target file for one create whose every text carries a mark of its own. It names
// no database, because the rows are searched for by the caller.
func (f File) Trial() (string, error) {
	f.differs()
	f.Draft = f.Draft.Marked(markerTemplate)
	f.Database = false
	if len(f.Draft.Carriers()) == 0 {
		return "", fmt.Errorf("no member of the body of %s %s takes any text or number, so that a marker could be looked for", f.Draft.Method, f.Draft.Path)
	}
	f.head()
	f.contract()
	f.signingIn()
	f.operation()
	return f.out.String(), nil
}

// line writes one line.
func (f *File) line(format string, args ...any) { fmt.Fprintf(&f.out, format+"\n", args...) }

// remark writes a comment, in lines of their own at an indentation.
func (f *File) remark(indent, format string, args ...any) {
	const widest = 110
	line := indent + "#"
	for _, word := range strings.Fields(inert.Comment(fmt.Sprintf(format, args...))) {
		if len(line)+1+len(word) > widest && line != indent+"#" {
			f.line("%s", line)
			line = indent + "#"
		}
		line += " " + word
	}
	f.line("%s", line)
}

// head writes the comments and what is not of the operation. The doubts stand first: a reader is
// to settle them before the file is used.
func (f *File) head() {
	if f.Schema != "" {
		f.line("# yaml-language-server: $schema=%s", f.Schema)
	}
	f.remark("", "Written by doubletap init from %s%s.", f.Source, described(f.Draft.Summary))
	f.remark("", "Every key is explained in docs/targets.md; next: doubletap doctor --target FILE")
	if len(f.Doubts) > 0 {
		f.line("#\n" + targets.UnsureOf)
		for _, d := range f.Doubts {
			f.remark("", "- %s", d)
		}
	}
	f.line("\nname: %s", f.Target)
	f.line("base_url: %s", bare(baseOf(f)))
	writeStart(f)
	if len(f.AllowHosts) > 0 {
		f.line("allow_hosts: %s", flow(f.AllowHosts))
	}
	if f.TLS != (Certificates{}) {
		writeCertificates(f)
	}
	switch {
	case f.Database:
		f.line(`database: {url: "${DATABASE_URL}"}`)
	case f.Listing != nil:
		f.line(`# database: {url: "${DATABASE_URL}"} # with it, and a query in rows, a verdict would not rest on what the target itself lists`)
	default:
		f.line(`# database: {url: "${DATABASE_URL}"} # without it rows are unknown, and no verdict is a pass`)
	}
	if f.Proof != nil && f.Listing == nil {
		written := writtenTables(f)
		lock := "the table"
		if len(written) > 1 {
			lock = "tables"
		}
		f.remark("", "With the right to lock %s, short windows are hit every time: database.write_gate: {tables: [%s]}", lock, strings.Join(written, ", "))
	}
	keepToLimit(f)
	f.elsewhere()
}

// mostGates bounds the tables of a write gate: the intents of a scenario take them in turn.
const mostGates = 4

// writtenTables are the tables that each create writes: that of its row, those whose rows refer to it, and those of the numbers that it changes. What a
// create does behind its first write is hit by a gate on a later one alone.
func writtenTables(f *File) []string {
	names := []string{literal(f.Dialect.TableName(f.Proof.Table))}
	add := func(t databases.Table) {
		if name := literal(f.Dialect.TableName(t)); len(names) < mostGates && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, c := range f.Children {
		if c.Rows > 0 {
			add(c.Table)
		}
	}
	for _, b := range f.Proof.Books {
		add(b.Of)
	}
	return names
}

// writeCertificates writes the files by which TLS is spoken. A certificate without a key beside it holds its key.
func writeCertificates(f *File) {
	f.line("tls:")
	for _, file := range [][2]string{{"ca", f.TLS.CA}, {"certificate", f.TLS.Certificate}, {"key", cmp.Or(f.TLS.Key, f.TLS.Certificate)}} {
		if file[1] != "" {
			f.line("  %s: %s", file[0], literal(file[1]))
		}
	}
}

// described goes on after the source of the file with the summary of the operation.
func described(summary string) string {
	if summary == "" {
		return ""
	}
	return ": " + strings.TrimRight(summary, ".")
}

// operation writes the operation, its keys in the order in which a reader asks: what is sent,
// where the key is, what else can be sent, how the answer names the thing, and where its row is.
func (f *File) operation() {
	d := f.Draft
	f.line("operations:\n  %s:", flow(d.Name))
	if len(d.Prepare) > 0 {
		f.line("    prepare: # before every create; {{.Prepared.NAME}} is what was extracted")
		f.steps("      ", d.Prepare)
	}
	if d.Number != "" {
		why := "takes any text"
		if value, _ := jsonpointer.Resolve(d.Body, d.Number); !plainNumber.MatchString(fmt.Sprint(value)) {
			why = "has room for a longer text"
		}
		f.line("    marker: number # no member of the body %s", why)
	}
	writeParents(f)
	f.line("    request:")
	f.request("      ", d.Method, pathOf(f), headers(f))
	f.content("      ", payload(d.Payload), filled(d.Body, d.Templates))
	if d.Written != "" {
		written := strings.TrimSuffix(block(strings.ReplaceAll(d.Written, "$", "$$")), "\n")
		f.line("      written: %s", beforeText.ReplaceAllString(written, "$0      "))
	}
	if d.Sign != nil {
		f.line("      sign: %s", flow(signing(d.Sign.Sign)))
	}
	writeCredential(f)
	if d.Key.In != contract.KeyNowhere {
		if f.KeySeen != "" {
			f.remark("    ", "The source names no key: %s.", f.KeySeen)
		}
		f.key()
	}
	if f.alter != nil && !f.alter.unsent {
		f.line(`    alter: %s # what "the same key with another body" changes`, flow(changing(f, f.alter.Value)))
	}
	writeInvalid(f)
	switch named := f.named(); {
	case named.InText():
		f.line("    identity: %s # in the body", flow(map[string]string{"pattern": named.Pattern}))
	case named.Header != "":
		at := map[string]string{"header": named.Header}
		if named.Pattern != "" {
			at["pattern"] = named.Pattern
		}
		f.line("    identity: %s # of the created thing", literal(at))
	case named.Declared():
		f.line("    identity: %s", literal(named.JSON))
	}
	switch {
	case f.Database:
		f.rows()
	case f.Listing != nil && f.Proof != nil:
		writeListing(f)
	}
	if f.Proof != nil && f.Proof.Removal != nil {
		f.line("    remove: # what an intent has made; then it is made again")
		f.steps("      ", f.Draft.Remove)
	}
}

// beforeText is what stands before each line of a text, where it is not empty.
var beforeText = regexp.MustCompile(`\n+`)

// key writes where the key stands, and how the target is asked for it where it issues it.
func (f *File) key() {
	d := f.Draft
	if len(d.KeySteps) == 0 {
		f.line("    key: %s", literal(keyOf(d.Key)))
		return
	}
	f.line("    key:")
	for line := range strings.Lines(block(keyOf(d.Key))) {
		f.line("      %s", strings.TrimSuffix(line, "\n"))
	}
	f.line("      issued: # before every create, once for each key that it may need")
	f.steps("        ", d.KeySteps)
}

// named is where the answer names the created thing.
func (f *File) named() contract.Identity {
	if f.Proof != nil {
		return f.Proof.Named
	}
	return contract.Identity{JSON: f.Draft.Identity}
}

// keyOf is a key as the file has it.
func keyOf(k targets.Key) any {
	return struct {
		In       contract.KeyPlace `yaml:"in"`
		Name     string            `yaml:"name,omitempty"`
		Required bool              `yaml:"required,omitempty"`
		Format   contract.Format   `yaml:"format,omitempty"`
		Like     string            `yaml:"like,omitempty"`
	}{k.In, k.Name, k.Required, k.Format, k.Like}
}
