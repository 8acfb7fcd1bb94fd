// Package leftovers names what a process makes outside of itself, such as folders and schemas, so that others can tell whether
// that process still runs, and remove what it has left if it was killed.
package leftovers

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// What a name has after its prefix, in digits and small letters: a path with a socket in it may not be long.
const (
	machineLength = 5
	bootLength    = 1
	pidLength     = 5 // of up to 22 bits
	beganLength   = 4 // of hours
	turnLength    = 4
	nameLength    = machineLength + bootLength + pidLength + beganLength + turnLength
)

// turn is the number of the last name. The first is random, as a process that began in the same hour may have had this one's number.
var turn = func() *atomic.Uint32 {
	var first [4]byte
	_, _ = rand.Read(first[:]) // it never fails
	n := &atomic.Uint32{}
	n.Store(binary.BigEndian.Uint32(first[:]))
	return n
}()

// Name returns a new name: the prefix, and 19 digits and small letters for this machine and its boot, this process and when it
// began, and its turn. A process gets none of its last million and a half names again. Safe for concurrent use.
func Name(prefix string) string {
	pid := os.Getpid()
	return prefix + machine() + boot() + digits(uint64(pid), pidLength) + began(pid) + digits(uint64(turn.Add(1)), turnLength)
}

// words are what a name may be among.
var words = regexp.MustCompile(`[0-9a-z]+`)

// Dead returns the word of a text that Name made in a process of this machine that does not run any more; empty: it has none.
// What other machines and containers made is not dead.
func Dead(text string) string {
	for _, word := range words.FindAllString(text, -1) {
		if len(word) == nameLength && isDead(word) {
			return word
		}
	}
	return ""
}

// isDead reports that the process of a name is surely gone: it ran on this machine, and the
// machine has started again, or no process has its number, or the one that has it began at another
// time. Of another machine's, nothing is known.
func isDead(name string) bool {
	made, rest := name[:machineLength], name[machineLength:]
	booted, rest := rest[:bootLength], rest[bootLength:]
	pid, err := strconv.ParseInt(rest[:pidLength], 36, 32)
	switch {
	case made != machine() || err != nil || pid == 0:
		return false
	case booted != boot(), errors.Is(syscall.Kill(int(pid), 0), syscall.ESRCH):
		return true
	default:
		return began(int(pid)) != rest[pidLength:][:beganLength]
	}
}

// digits writes the last digits of a number.
func digits(n uint64, length int) string {
	text := strings.Repeat("0", length) + strconv.FormatUint(n, 36)
	return text[len(text)-length:]
}

// Folder makes a temporary folder that only its owner can read. Its name is the prefix and a [Name]; Sweep removes it when this
// process is gone.
func Folder(parent, prefix string) (string, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	path := filepath.Join(parent, Name(prefix))
	return path, os.Mkdir(path, 0o700)
}

// Sweep removes the folders of processes that are gone from the folder for temporary files, and returns their paths. An error
// says which could not be removed, such as those of other users.
func Sweep() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "doubletap-*"))
	problems := []error{err}
	var removed []string
	for _, path := range found {
		if Dead(filepath.Base(path)) == "" {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			problems = append(problems, err)
			continue
		}
		removed = append(removed, path)
	}
	return removed, errors.Join(problems...)
}

// machine is this machine, as far as processes see each other: a container is one of its own.
var machine = sync.OnceValue(func() string {
	host, _ := os.Hostname()
	id, _ := os.ReadFile("/etc/machine-id")
	processes, _ := os.Readlink("/proc/self/ns/pid")
	return digest(machineLength, host, string(id), processes)
})

// boot is what changes when the machine starts again.
var boot = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return digest(bootLength, string(id))
})

// digest writes texts as so many digits, which are the same each time.
func digest(length int, texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return digits(binary.BigEndian.Uint64(sum[:8]), length)
}

// began is when a process began, in ticks since the boot (proc_pid_stat(5)); zeros: it is not known, as on systems without
// /proc.
func began(pid int) string {
	const startTime = 22 - 2 // counted from behind the name, which may have spaces
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < startTime || string(fields[0]) == "Z" {
		return digits(0, beganLength)
	}
	ticks, _ := strconv.ParseUint(string(fields[startTime-1]), 10, 64)
	return digits(ticks, beganLength)
}
