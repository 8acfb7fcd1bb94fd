package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// serveWord makes this program the target of bursts, in a process of its own.
const serveWord = "serve-bursts"

// serveApart says where it listens, serves until its input ends, and says what came.
func serveApart(in io.Reader, out io.Writer) error {
	came := newArrivals()
	t, err := serve(routes(came))
	if err != nil {
		return err
	}
	defer t.close()
	fmt.Fprintln(out, t.address)
	_, _ = io.Copy(io.Discard, in)
	return json.NewEncoder(out).Encode(came.all())
}

// sendApart has a job sent to a target in a process of its own, and returns what came there. The
// target ends with its input, so it does not outlive this process.
func sendApart(ctx context.Context, w laneKind, send burstSender, j job) (map[string][]arrival, spent, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, spent{}, err
	}
	server := exec.CommandContext(ctx, program, serveWord)
	server.WaitDelay = time.Second
	in, err1 := server.StdinPipe()
	out, err2 := server.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, spent{}, err
	}
	if err := server.Start(); err != nil {
		return nil, spent{}, err
	}
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	var took spent
	if err == nil {
		took, err = sendOn(ctx, strings.TrimSpace(address), w, send, j)
	}
	_ = in.Close()
	var came map[string][]arrival
	told := json.NewDecoder(lines).Decode(&came)
	return came, took, errors.Join(err, told, server.Wait())
}
