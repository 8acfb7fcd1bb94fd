package main

import (
	"context"
	"os"
)

// daysOfMachines are those on which the machine has no room, or is not as usual.
func daysOfMachines() []day {
	at := func(name string, exits []int, change func(b *bench) error) day {
		return day{class: "machine", name: name, exits: exits, set: func(_ context.Context, b *bench) error {
			s, err := openShop(b, nil)
			if err == nil {
				err = s.runAt(b)
			}
			if err == nil {
				err = change(b)
			}
			return err
		}}
	}
	shell := func(line string) func(*bench) error {
		return func(b *bench) error {
			b.shell = line
			return nil
		}
	}
	reports := func(path string) func(*bench) error {
		return func(b *bench) error {
			b.args = append(b.args, "--reports", path)
			return nil
		}
	}
	broken := []int{2, 3, 4}
	days := []day{
		at("reports below a file", broken, func(b *bench) error {
			path, err := b.write("file", "")
			b.args = append(b.args, "--reports", path+"/reports")
			return err
		}),
		at("reports below /proc", broken, reports("/proc/reports")),
		at("reports in a device", broken, reports("/dev/null")),
		at("standard output is full", []int{4}, func(b *bench) (err error) {
			b.stdout, err = os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err == nil {
				b.wait = append(b.wait, func() { _ = b.stdout.Close() })
			}
			return err
		}),
		at("standard output is closed", []int{0, 4}, shell(`exec "$0" "$@" >&-`)),
		at("standard error is closed", []int{0, 4}, shell(`exec "$0" "$@" 2>&-`)),
		at("standard input is closed", []int{0}, shell(`exec "$0" "$@" <&-`)),
		at("all three are closed", []int{0, 4}, shell(`exec "$0" "$@" <&- >&- 2>&-`)),
		at("a reader that leaves after a line", []int{0}, shell(`"$0" "$@" | head -1`)),
		at("no folder for temporary files", []int{0, 4}, func(b *bench) error {
			b.env = append(b.env, "TMPDIR="+b.path("nowhere"))
			return nil
		}),
		at("no home", []int{0}, shell(`unset HOME; exec "$0" "$@"`)),
		at("no environment at all", []int{0}, shell(`exec env -i HOSTILE_DAY="$HOSTILE_DAY" TMPDIR="$TMPDIR" "$0" "$@"`)),
		at("the working folder is gone", []int{0, 2, 3, 4}, shell(`mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"`)),
		at("a terminal that nobody knows", []int{0}, shell(`TERM=`+pwned+` COLUMNS=-5 LC_ALL=xx exec "$0" "$@"`)),
		at("proxies in the environment", []int{0}, func(b *bench) error {
			for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
				b.env = append(b.env, name+"=http://192.0.2.1:9")
			}
			return nil
		}),
		at("the reports are removed in the middle", []int{2, 4}, func(b *bench) error {
			b.args = append(b.args, "late-retry")
			b.meet = func(*os.Process) error {
				const seen = "sequential-replay/history.jsonl"
				if err := waitFor(func() bool { return printed(b.path("reports"), seen, `"begun"`, 1) }); err != nil {
					return err
				}
				return os.RemoveAll(b.path("reports"))
			}
			return nil
		}),
	}
	for _, limit := range []string{"1", "8", "32"} {
		days = append(days, at("files of at most "+limit+" KiB, as on a full disk", []int{2, 4}, shell(`trap "" XFSZ; ulimit -f `+limit+`; exec "$0" "$@"`)))
	}
	for _, limit := range []string{"8", "12", "16", "20", "24", "32", "48"} {
		days = append(days, at(limit+" file descriptors", []int{0, 2, 4}, shell(`ulimit -n `+limit+`; exec "$0" "$@"`)))
	}
	return days
}
