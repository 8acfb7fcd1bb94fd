package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// spells are texts that some reader of a finding might obey.
var spells = []struct{ name, text string }{
	{"a command substitution", "$(touch " + pwned + ")"},
	{"a command in backquotes", "`touch " + pwned + "`"},
	{"the end of a single-quoted text", "'; touch " + pwned + "; '"},
	{"the end of a double-quoted text", "\"; touch " + pwned + "; \""},
	{"a line of its own", "x\ntouch " + pwned + "\n"},
	{"the end of a here-document", "x\nEOF\ntouch " + pwned + "\n"},
	{"code in Go", "*/\nfunc init() { os.WriteFile(\"" + pwned + "\", nil, 0o644) }\n/*"},
	{"a template", "{{.Exec \"touch " + pwned + "\"}}"},
	{"a YAML tag", "!!python/object/apply:os.system [\"touch " + pwned + "\"]"},
	{"a process in YAML", "x\nprocess: {command: [touch, " + pwned + ", \"{{.Port}}\"]}\n#"},
	{"a process behind another end of a line", "}\u2028process: {command: [touch, " + pwned + ", \"{{.Port}}\"]} #"},
	{"a workflow command", "\n::error file=x::" + pwned + "\n##vso[task]" + pwned},
	{"a terminal's escape sequence", "\x1b]0;" + pwned + "\x07\x1b[2J"},
	{"a script for browsers", "</script><script>document.title=1</script><img src=x onerror=alert(1)>"},
	{"text from right to left", "\u202e\u2066" + pwned},
	{"zeros", "a\x00b"},
	{"a path out of the folder", "../../../../" + pwned},
	{"a megabyte", strings.Repeat("A", 1<<20)},
}

// daysOfFindings give findings that an enemy wrote to every command that reads them. Scripts that come out are run, where nobody
// answers them.
func daysOfFindings() []day {
	var days []day
	for _, command := range []struct {
		name  string
		shell string
		exits []int
	}{
		{"exported as curl, and run", `"$0" export FINDING --as curl -o again.sh; [ ! -f again.sh ] || timeout 20 sh again.sh http://127.0.0.1:1 >again.txt 2>&1; exit 0`, []int{0}},
		{"exported as Go, and formatted", `"$0" export FINDING --as go -o again_test.go; [ ! -f again_test.go ] || gofmt -l again_test.go; exit 0`, []int{0}},
		{"exported as a scenario, and read", `"$0" export FINDING --as scenario -o again.yaml && "$0" validate again.yaml; exit 0`, []int{0}},
		{"checked", `exec "$0" check RUN --format github`, []int{1, 2, 3, 4}},
		{"replayed without a target", `exec "$0" replay FINDING --dry-run`, []int{0, 3, 4}},
	} {
		for _, s := range spells {
			days = append(days, day{class: "findings", name: s.name + ", " + command.name, exits: command.exits, set: func(_ context.Context, b *bench) error {
				run := b.path("run")
				err := os.CopyFS(run, os.DirFS(b.finding))
				for _, name := range []string{"findings/F1/finding.json", "run.json"} {
					if err == nil {
						err = enchant(filepath.Join(run, name), s.text)
					}
				}
				b.shell = strings.NewReplacer("FINDING", run+"/findings/F1", "RUN", run).Replace(command.shell)
				return err
			}})
		}
	}
	return days
}

// enchanted are the members of findings and manifests that hold texts of the one who wrote them. Where a text may have one of a few
// values only, the reader's refusal is as good.
var enchanted = map[string]bool{
	"target": true, "detail": true, "promise": true, "contract": true, "expected": true, "observed": true, "key": true, "content": true,
	"first": true, "then": true, "where": true, "path": true, "Location": true, "base_url": true, "summary": true, "link": true,
}

// enchant puts a text into the members of a JSON file.
func enchant(path, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var document any
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		return err
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				if old, is := member.(string); is && enchanted[name] {
					v[name] = old + text
				}
				walk(member)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(document)
	if content, err = json.Marshal(document); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
