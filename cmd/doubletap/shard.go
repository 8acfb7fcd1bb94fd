package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// jobIndex is the variable in which Kubernetes tells a pod of an Indexed Job its number, from 0.
const jobIndex = "JOB_COMPLETION_INDEX"

// shardFlag is the value of --shard: 3/8; or /8, whose Number is 0 until it is resolved.
type shardFlag struct{ scenarios.Shard }

// Set reads NUMBER/OF, both counted from 1, or /OF for a number that the environment tells.
func (f *shardFlag) Set(text string) error {
	number, of, found := strings.Cut(text, "/")
	n, err := 0, error(nil)
	if number != "" {
		n, err = strconv.Atoi(number)
	}
	total, unread := strconv.Atoi(of)
	if !found || err != nil || unread != nil || total < 1 || total > rundir.MostShards || n > total || n < 1 && number != "" {
		return fmt.Errorf("expected a part of at most %d, such as 3/8, or /8", rundir.MostShards)
	}
	f.Shard = scenarios.Shard{Number: n, Of: total}
	return nil
}

// Type names the kind of value in the help.
func (f *shardFlag) Type() string { return "part" }

// resolve asks the environment for the number, if it is to tell.
func (f *shardFlag) resolve(getenv func(string) (string, bool)) error {
	if f.Number > 0 || f.Of == 0 {
		return nil
	}
	text, _ := getenv(jobIndex)
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= f.Of {
		return runerror.Configf("--shard /%d: $%s is %q, expected 0 to %d", f.Of, jobIndex, text, f.Of-1)
	}
	f.Number = n + 1
	return nil
}
