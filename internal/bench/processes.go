package main

import (
	"context"
	_ "embed" // for the script of k6
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

//go:embed burst.js
var burstScript []byte

// tool is a sender that is a program of its own. It stays out of go.mod, with all that it needs.
type tool struct {
	name    string
	module  string
	version string
	senders func(program string) []sender
}

// tools are pinned to versions, so that figures of different days can be compared.
func tools() []tool {
	return []tool{
		{name: k6, module: "go.k6.io/k6", version: "v1.8.1", senders: k6Senders},
		{name: hey, module: "github.com/rakyll/hey", version: "v0.1.5", senders: heySenders},
	}
}

// install returns the path of the program, and builds it where that has not been done before.
func (t tool) install(ctx context.Context, progress io.Writer) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("install %s: %w", t.name, err)
	}
	folder := filepath.Join(cache, "doubletap", "bench", t.name+"@"+t.version)
	program := filepath.Join(folder, t.name)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	fmt.Fprintf(progress, "installing %s %s into %s, once; k6 takes a few minutes\n", t.name, t.version, folder)
	if err := t.build(ctx, folder); err != nil {
		return "", fmt.Errorf("install %s: %w", t.name, err)
	}
	return program, nil
}

// build builds the program beside its folder first, so that none is there by halves.
func (t tool) build(ctx context.Context, folder string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	half, err := os.MkdirTemp(filepath.Dir(folder), t.name)
	if err != nil {
		return err
	}
	defer os.RemoveAll(half)
	install := exec.CommandContext(ctx, "go", "install", t.module+"@"+t.version)
	install.Env = append(os.Environ(), "GOBIN="+half, "GOFLAGS=")
	if err := finish(install); err != nil {
		return err
	}
	return os.Rename(half, folder)
}

// finish runs a process to its end. It dies with the context that it was made with.
func finish(process *exec.Cmd) error {
	process.WaitDelay = time.Second
	out, err := process.CombinedOutput()
	if err != nil {
		const most = 500
		return fmt.Errorf("%s: %w: %s", filepath.Base(process.Path), err, out[max(0, len(out)-most):])
	}
	return nil
}

// k6Senders run one process for the whole job: to the near entry, and to the far one.
func k6Senders(program string) []sender {
	near, far := k6To(program, (*route).near), k6To(program, (*route).beyond)
	return []sender{{name: k6, burst: near, plain: near}, {name: k6Far, burst: far, plain: far}}
}

// k6To sends with k6 to one of the entries of a route.
func k6To(program string, address func(*route) string) burstSender {
	return func(ctx context.Context, j job) error {
		script := filepath.Join(j.scratch, "burst.js")
		if err := os.WriteFile(script, burstScript, 0o600); err != nil {
			return err
		}
		run := exec.CommandContext(ctx, program, "run", "--quiet", "--no-usage-report", "--summary-mode=disabled",
			"--no-thresholds", "--address=", "--log-output=none", script)
		run.Env = []string{
			"HOME=" + j.scratch, // nobody's own settings
			"K6_AUTO_EXTENSION_RESOLUTION=false",
			"BASE=http://" + address(j.route), "BODY=" + body,
			"MEMBERS=" + strconv.Itoa(j.members), "BURSTS=" + strconv.Itoa(j.bursts), "AT_ONCE=" + strconv.Itoa(min(j.atOnce, j.bursts)),
		}
		return finish(run)
	}
}

// heySenders run one process for each burst, which is all that hey can do. So its connections are cold.
func heySenders(program string) []sender {
	hit := func(ctx context.Context, j job, id, requests, workers int) error {
		return finish(exec.CommandContext(ctx, program, "-n", strconv.Itoa(requests), "-c", strconv.Itoa(workers),
			"-t", strconv.Itoa(int(longest.Seconds())), "-m", "POST", "-T", "application/json", "-d", body,
			"-H", "Idempotency-Key: "+key(id), fmt.Sprintf("http://%s/burst/%d", j.route.near(), id)))
	}
	return []sender{{
		name: hey,
		burst: func(ctx context.Context, j job) error {
			return j.each(ctx, func(ctx context.Context, id int) error { return hit(ctx, j, id, j.members, j.members) })
		},
		plain: func(ctx context.Context, j job) error { return hit(ctx, j, 1, j.bursts, 1) },
	}}
}
