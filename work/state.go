package work

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
)

// Keys of the bucket.
const (
	runKey       = "run"     // a run
	probeKey     = "probe"   // for the time of the server
	workerPrefix = "worker." // a worker
	shardPrefix  = "shard."  // a result
	taskName     = "task"    // the object that has the task
	consumerName = "workers"
	beatEvery    = 5 * time.Second
	deadAfter    = 30 * time.Second // of a run whose coordinator has said nothing
	mostAttempts = 5                // of a shard: what ends more workers than these is left out
	pollEvery    = 500 * time.Millisecond
	mostPolls    = 2 * time.Second  // that a worker waits for the next shard at a time
	aloneAfter   = 10 * time.Second // it is said that no worker is there
	timeToLeave  = 5 * time.Second  // that workers have to leave when a run is over
)

// Run is a run that is shared, as workers see it.
type Run struct {
	ID     string        `json:"id"`
	Tool   string        `json:"tool"`   // version of doubletap; a worker has to be of the same
	Target string        `json:"target"` // digest of the target file, likewise
	Shards int           `json:"shards"`
	Lease  time.Duration `json:"lease"` // a worker that has been silent for so long has lost its shard
	Host   string        `json:"host"`  // of the coordinator
	Open   bool          `json:"open"`  // shards can be had
	Over   bool          `json:"over"`  // no more of them
}

// check says what no coordinator of ours asks for.
func (r Run) check() error {
	if r.Shards < 1 || r.Shards > rundir.MostShards || r.Lease < time.Second {
		return runerror.Environment(fmt.Errorf("its coordinator asks for %d shards and a lease of %s, expected 1 to %d shards and 1s or more", r.Shards, r.Lease, rundir.MostShards))
	}
	return nil
}

// worker is what a worker says of itself.
type worker struct {
	Run     string `json:"run,omitempty"`
	Shard   int    `json:"shard,omitempty"` // that it plays; 0: none
	Attempt int    `json:"attempt,omitempty"`
	Left    bool   `json:"left,omitempty"`
	Why     string `json:"why,omitempty"` // it left; empty: it was asked to, or the run was over
}

// result is what came of a shard. There is one for each, whatever a second worker comes with.
type result struct {
	Run     string        `json:"run"`
	Worker  string        `json:"worker"`
	Attempt int           `json:"attempt"`
	Object  string        `json:"object,omitempty"` // in the object store; empty: it was given up
	Took    time.Duration `json:"took"`
	GivenUp string        `json:"given_up,omitempty"` // why
}

// order is a message of the stream.
type order struct {
	Run   string `json:"run"`
	Shard int    `json:"shard"`
}

// objectOf names what an attempt of a shard has left.
func objectOf(shard, attempt int, worker string) string {
	return fmt.Sprintf("shard-%d-attempt-%d-%s", shard, attempt, worker)
}

func shardKey(shard int) string { return fmt.Sprint(shardPrefix, shard) }

// shardOf is the number in a key; false: it is not that of a shard.
func shardOf(key string) (int, bool) {
	text, is := strings.CutPrefix(key, shardPrefix)
	n := 0
	_, err := fmt.Sscan(text, &n)
	return n, is && err == nil
}

// text is a value as it is stored.
func text(value any) []byte {
	b, _ := json.Marshal(value) // of texts, numbers and booleans
	return b
}

// read reads a value that another doubletap has written.
func read[T any](entry interface{ Value() []byte }) (T, error) {
	var value T
	err := json.Unmarshal(entry.Value(), &value)
	return value, err
}
