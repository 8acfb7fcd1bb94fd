package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// oddFiles are files that are none, or not what a reader expects. Each makes its file at a path, or names another one.
var oddFiles = []struct {
	name string
	make func(path string) error
}{
	{"a named pipe", func(p string) error { return syscall.Mkfifo(p, 0o644) }},
	{"a device without an end", func(p string) error { return os.Symlink("/dev/zero", p) }},
	{"a folder", func(p string) error { return os.Mkdir(p, 0o755) }},
	{"a link to itself", func(p string) error { return os.Symlink(p, p) }},
	{"a link to nothing", func(p string) error { return os.Symlink("nowhere", p) }},
	{"5 GiB of nothing", func(p string) error {
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			return err
		}
		return os.Truncate(p, 5<<30)
	}},
	{"an empty file", text("")},
	{"zeros", text(strings.Repeat("\x00", 10_000))},
	{"random bytes", text("\x7fELF\x02\x01\x01\xff\xfe\xfd\x80\x81\x82")},
	{"UTF-16", text("\xff\xfen\x00a\x00m\x00e\x00")},
	{"100,000 brackets", text(strings.Repeat("[", 100_000))},
	{"100,000 objects in one another", text(strings.Repeat(`{"a":`, 100_000))},
	{"a bomb of anchors", text(anchors())},
	{"a line of 10 MiB", text(`{"name": "` + strings.Repeat("a", 10<<20) + `"}`)},
	{"a text where a mapping should be", text("hello\n")},
	{"names with control characters", text("\"\\e]0;" + pwned + "\\a\": 1\n\"\\u202e::error::" + pwned + "\": 2\n")},
}

// text makes a file of a text.
func text(content string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(content), 0o644) }
}

// anchors is YAML whose anchors stand for 10^9 items.
func anchors() string {
	b := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		b += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), i-1)
	}
	return b
}

// daysOfFiles give every reader of a file every odd file.
func daysOfFiles() []day {
	inRun := func(name string, command ...string) func(b *bench, odd string) []string {
		return func(b *bench, odd string) []string {
			run := b.path("run")
			_ = os.CopyFS(run, os.DirFS(b.finding))
			_ = os.RemoveAll(filepath.Join(run, name))
			_ = os.Rename(odd, filepath.Join(run, name))
			var args []string
			for _, word := range command {
				args = append(args, strings.Replace(word, "RUN", run, 1))
			}
			return args
		}
	}
	readers := []struct {
		name string
		args func(b *bench, odd string) []string
	}{
		{"a target file", func(_ *bench, odd string) []string { return []string{"run", "--target", odd} }},
		{"a scenario", func(_ *bench, odd string) []string { return []string{"run", "--target", "builtin:unique-key", odd} }},
		{"a register", func(_ *bench, odd string) []string {
			return []string{"run", "--target", "builtin:unique-key", "--known", odd, "plain-create"}
		}},
		{"an OpenAPI document", func(_ *bench, odd string) []string { return []string{"init", "--openapi", odd} }},
		{"a HAR file", func(_ *bench, odd string) []string { return []string{"init", "--har", odd} }},
		{"a curl command", func(_ *bench, odd string) []string { return []string{"init", "--curl", "@" + odd} }},
		{"a matrix", func(_ *bench, odd string) []string { return []string{"matrix", "--resume", odd} }},
		{"a manifest", inRun("run.json", "check", "RUN")},
		{"a history", inRun("sequential-replay/history.jsonl", "check", "RUN")},
		{"a plan", inRun("findings/F1/plan.jsonl", "replay", "RUN/findings/F1")},
		{"a finding", inRun("findings/F1/finding.json", "export", "RUN/findings/F1")},
		{"a scenario of a finding", inRun("findings/F1/scenario.yaml", "shrink", "RUN/findings/F1")},
		{"an older run", inRun("run.json", "diff", "RUN", "RUN")},
		{"a shard", inRun("run.json", "merge", "RUN")},
		{"a history of a shard", inRun("sequential-replay/history.jsonl", "merge", "RUN")},
		{"a .env beside a target file", func(b *bench, odd string) []string {
			_ = os.Rename(odd, filepath.Join(filepath.Dir(odd), ".env"))
			path, _ := b.write("target.yaml", "name: x\nbase_url: ${NOBODY_SETS_THIS}\n")
			return []string{"run", "--target", path}
		}},
	}
	var days []day
	for _, r := range readers {
		for _, odd := range oddFiles {
			days = append(days, day{class: "files", name: r.name + " that is " + odd.name, exits: []int{1, 2, 3, 4}, set: func(_ context.Context, b *bench) error {
				path := b.path("odd.yaml")
				err := odd.make(path)
				b.args = r.args(b, path)
				return err
			}})
		}
	}
	return days
}
