package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// jobIndex is the variable in which Kubernetes tells a pod of an Indexed Job its number, from 0.
const jobIndex = "JOB_COMPLETION_INDEX"

// mostShards bounds the number of shards: more are a mistake.
const mostShards = 10_000

// shardFlag is the value of --shard: 3/8, or /8.
type shardFlag struct {
	text       string
	number, of int // number 0: the environment tells
}

func (f *shardFlag) Set(text string) error {
	number, of, found := strings.Cut(text, "/")
	n, err := 0, error(nil)
	if number != "" {
		n, err = strconv.Atoi(number)
	}
	total, unread := strconv.Atoi(of)
	if !found || err != nil || unread != nil || total < 1 || total > mostShards || n > total || n < 1 && number != "" {
		return fmt.Errorf("expected a part of at most %d, such as 3/8, or /8", mostShards)
	}
	*f = shardFlag{text, n, total}
	return nil
}

func (f *shardFlag) String() string { return f.text }

func (f *shardFlag) Type() string { return "part" }

// resolve is the shard, whose number the environment may tell.
func (f shardFlag) resolve(getenv func(string) (string, bool)) (scenarios.Shard, error) {
	if f.number > 0 || f.text == "" {
		return scenarios.Shard{Number: f.number, Of: f.of}, nil
	}
	text, _ := getenv(jobIndex)
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= f.of {
		return scenarios.Shard{}, runerror.Configf("--shard %s: $%s is %q, expected 0 to %d", f.text, jobIndex, text, f.of-1)
	}
	return scenarios.Shard{Number: n + 1, Of: f.of}, nil
}
