package servers_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/internal/servers"
)

// childFolder makes this test program make a folder, print its path and wait to be killed.
const childFolder = "folder"

func keepFolderUntilKilled() {
	folder, err := servers.TemporaryFolder("doubletap-folder-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(folder.Path())
	select {}
}

func TestAFolderIsRemoved(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	folder, err := servers.TemporaryFolder("doubletap-folder-")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder.Path(), "a"), []byte("a"), 0o600))
	require.NoError(t, folder.Remove())
	require.NoError(t, folder.Remove(), "removing again does nothing")
	require.NoDirExists(t, folder.Path())
}

func TestAFolderIsRemovedWithTheProcessThatMadeIt(t *testing.T) {
	t.Parallel()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childKind+"="+childFolder, "TMPDIR="+t.TempDir())
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	path := strings.TrimSpace(line)
	require.DirExists(t, path)
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()
	require.Eventually(t, func() bool { _, err := os.Stat(path); return os.IsNotExist(err) }, time.Minute, 5*time.Millisecond)
}
