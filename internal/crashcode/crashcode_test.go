//go:build linux && (amd64 || arm64)

package crashcode_test

import (
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/crashcode"
)

// crashes are ways in which the runtime ends a process.
func crashes() map[string]func() {
	return map[string]func(){
		"a panic in a goroutine": func() { go panic("a mistake") },
		"a nil map in a goroutine": func() {
			var m map[string]int
			go func() { m["a"] = 1 }()
		},
		"a stack without end": func() {
			var deeper func(int) int
			deeper = func(n int) int { return deeper(n+1) + 1 }
			debug.SetMaxStack(1 << 20)
			go deeper(0)
		},
		"concurrent writes to a map": func() {
			m := map[int]int{}
			for range 4 {
				go func() {
					for i := 0; ; i++ {
						m[i%8] = i
					}
				}()
			}
		},
		"no memory": func() {
			var limit syscall.Rlimit
			limit.Cur, limit.Max = 1, 1 // what the process has stays
			_ = syscall.Setrlimit(syscall.RLIMIT_AS, &limit)
			for all := [][]byte{}; ; {
				all = append(all, make([]byte, 64<<20))
			}
		},
		"SIGQUIT": func() { _ = syscall.Kill(os.Getpid(), syscall.SIGQUIT) },
	}
}

const variable = "CRASHCODE_TEST"

func TestMain(m *testing.M) {
	if name := os.Getenv(variable); name != "" {
		crashcode.Set()
		crashes()[name]()
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTheRuntimeEndsAProcessWithTheCode(t *testing.T) {
	t.Parallel()
	for name := range crashes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := os.Executable()
			require.NoError(t, err)
			command := exec.Command(program)
			command.Env = append(os.Environ(), variable+"="+name)
			said, err := command.CombinedOutput()
			var failed *exec.ExitError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, crashcode.Code, failed.ExitCode(), "%s", said)
			require.True(t, strings.Contains(string(said), "goroutine "), "%s", said)
		})
	}
}
