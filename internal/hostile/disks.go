package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// named is what a command says of a disk that is full: the file, by the name that it would have had.
const named = `disk/\S*[a-z]\.?[a-z_-]+(\.\w+)?: no space left on device`

// readAgain checks every run that the command left: what is there of it has to be readable, whatever is missing.
const readAgain = `"$0" "$@"; code=$?
for run in disk/reports/2*; do
	[ -e "$run/run.json" ] || continue
	"$0" check "$run" >checked 2>&1; checked=$?
	case $checked in 0|1|2|4) ;; *) cat checked; echo "check: exit code $checked"; exit 99 ;; esac
	if grep -E "cannot be read|unexpected end|invalid character" checked; then exit 98; fi
done
for left in disk/reports/2*/.[A-Z2-7]* disk/reports/2*/*/.[A-Z2-7]*; do
	[ ! -e "$left" ] || { echo "it left $left"; exit 97; }
done
exit $code`

// daysOfDisks are those on which a disk fills up at some phase of a command: they mount small ones, for which they need root.
func daysOfDisks() []day {
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "hostile: no days of disks: only root can mount small ones")
		return nil
	}
	on := func(kib int, name string, exits []int, args func(b *bench) error) day {
		return day{class: "disk", name: fmt.Sprintf("%s on %d KiB", name, kib), exits: exits, says: named, set: func(_ context.Context, b *bench) error {
			if err := b.mount(kib); err != nil {
				return err
			}
			b.shell = readAgain
			return args(b)
		}}
	}
	shop := func(b *bench) error {
		s, err := openShop(b, nil)
		if err == nil {
			err = s.runAt(b)
		}
		b.args = append(b.args, "--reports", "disk/reports")
		return err
	}
	words := func(line string) func(*bench) error {
		return func(b *bench) error {
			line := strings.NewReplacer("RUN", b.finding, "FINDING", filepath.Join(b.finding, "findings", "F1")).Replace(line)
			b.args = strings.Fields(line)
			return nil
		}
	}
	var days []day
	for _, kib := range []int{4, 8, 16, 24, 32, 48, 64, 96, 128, 160} {
		days = append(days, on(kib, "a run", []int{4}, shop))
	}
	for _, kib := range []int{8, 64, 128} {
		days = append(days, on(kib, "a run with a process", []int{4}, words("run --target served:unique-key --seed 1 --reports disk/reports plain-create double-click")))
	}
	for _, kib := range []int{100, 160, 300, 400} { // of which the reports do not fit, and then the findings; a finding outranks the disk
		days = append(days, on(kib, "a run with findings", []int{1}, words("run --target builtin:replay-status-changed --seed 1 --reports disk/reports sequential-replay")))
	}
	for _, kib := range []int{4, 12, 64} {
		days = append(days,
			on(kib, "a merge", []int{1, 4}, words("merge RUN --reports disk/reports")),
			on(kib, "a replay", []int{1, 4}, words("replay FINDING --reports disk/reports")),
			on(kib, "a shrink", []int{4}, words("shrink FINDING --reports disk/reports -o smaller.yaml")))
	}
	filled := func(line string) func(*bench) error {
		return func(b *bench) error {
			if err := os.WriteFile(b.path("disk/full"), make([]byte, 4<<10), 0o600); err != nil {
				return err
			}
			return words(line)(b)
		}
	}
	for _, as := range []string{"curl", "go", "scenario"} {
		days = append(days, on(4, "an export as "+as, []int{4}, filled("export FINDING --as "+as+" -o disk/exported")))
	}
	return append(days,
		on(4, "a shrunk scenario", []int{4}, filled("shrink FINDING --reports reports -o disk/smaller.yaml")),
		on(4, "a matrix", []int{4}, filled("matrix --design unique-key --seeds 1 -o disk/matrix.md")),
		on(4, "a target file", []int{4}, func(b *bench) error {
			s, err := openShop(b, nil)
			if err != nil {
				return err
			}
			if err := filled("init")(b); err != nil {
				return err
			}
			b.args = append(b.args, "--curl", fmt.Sprintf(`curl -X POST %s/things -H 'Content-Type: application/json' -d '{"note": "a"}'`, s.url), "-o", "disk/target.yaml")
			return nil
		}))
}

// mount makes a small disk for the day.
func (b *bench) mount(kib int) error {
	path := b.path("disk")
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("none", path, "tmpfs", 0, fmt.Sprintf("size=%dk", kib)); err != nil {
		return fmt.Errorf("mount a small disk: %w", err)
	}
	b.wait = append(b.wait, func() { _ = syscall.Unmount(path, syscall.MNT_DETACH) })
	return nil
}
