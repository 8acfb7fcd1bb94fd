package files_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/files"
)

func put(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestOnlyRegularFilesOfABoundedSizeAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o644))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("/dev/zero", link))
	large := put(t, filepath.Join(dir, "large"), "")
	require.NoError(t, os.Truncate(large, 3<<40))
	for path, says := range map[string]string{
		pipe:                            "is a named pipe, expected a regular file",
		link:                            "is a device, expected a regular file",
		"/dev/zero":                     "is a device, expected a regular file",
		dir:                             "is a folder, expected a regular file",
		large:                           "has 3145728 MiB, and at most 64 MiB are read",
		filepath.Join(dir, "not there"): "no such file",
	} {
		_, err := files.Read(path, files.MostText)
		require.ErrorContains(t, err, says)
		_, err = files.Folder(filepath.Dir(path)).Open(filepath.Base(path))
		if path != dir {
			require.Error(t, err, path)
		}
	}
	text, err := files.Read(put(t, filepath.Join(dir, "small"), "small"), 5)
	require.NoError(t, err)
	require.Equal(t, "small", string(text))
	_, err = files.Read(filepath.Join(dir, "small"), 4)
	require.Error(t, err)
	_, err = files.Read("/proc/self/maps", 4)
	require.ErrorContains(t, err, "is larger than what is read", "it says that it is empty")
	text, err = fs.ReadFile(files.Folder(dir), "small")
	require.NoError(t, err)
	require.Equal(t, "small", string(text))
}

func TestAFileThatCannotBeWrittenStaysAsItWas(t *testing.T) {
	t.Parallel()
	path := put(t, filepath.Join(t.TempDir(), "matrix.json"), "as it was")
	broken := func(w io.Writer) error {
		_, err := io.WriteString(w, "the beg")
		return errors.Join(err, syscall.ENOSPC)
	}
	require.ErrorIs(t, files.Replace(path, 0o600, broken), syscall.ENOSPC)
	require.Equal(t, "as it was", read(t, path))
	require.NoError(t, files.Replace(path, 0o600, anew))
	require.Equal(t, "anew", read(t, path))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func anew(w io.Writer) error { _, err := io.WriteString(w, "anew"); return err }

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func TestAnOutputReplacesOnlyWhatDoubletapMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		there func(t *testing.T, path string)
		says  string // without --force; empty: it is written
		never bool   // not even with --force
	}{
		"nothing":           {func(*testing.T, string) {}, "", false},
		"an empty file":     {func(t *testing.T, path string) { put(t, path, "") }, "", false},
		"one of our own":    {func(t *testing.T, path string) { put(t, path, "# Made by us: x") }, "", false},
		"another's file":    {func(t *testing.T, path string) { put(t, path, "mine") }, "doubletap did not make it; --force", false},
		"the mark, too far": {func(t *testing.T, path string) { put(t, path, strings.Repeat(" ", 4<<10)+"# Made by us") }, "did not make it", false},
		"a link": {func(t *testing.T, path string) {
			require.NoError(t, os.Symlink(put(t, path+".of", "# Made by us"), path))
		}, "is a symbolic link; --force", false},
		"a link to nothing": {func(t *testing.T, path string) { require.NoError(t, os.Symlink(path+".of", path)) }, "is a symbolic link", false},
		"a folder":          {func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o755)) }, "is a folder", true},
		"a named pipe":      {func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o644)) }, "is a named pipe", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out")
			c.there(t, path)
			out := files.Output{Path: path, Mark: "# Made by us"}
			err := out.Write(anew)
			if c.says == "" {
				require.NoError(t, err)
				require.Equal(t, "anew", read(t, path))
				return
			}
			require.ErrorContains(t, err, c.says)
			out.Force = true
			if err = out.Write(anew); c.never {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "anew", read(t, path))
			if text, err := os.ReadFile(path + ".of"); err == nil {
				require.Equal(t, "# Made by us", string(text), "what a link leads to is left alone")
			} else {
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
		})
	}
}

func TestAPathAsOneThatStartsAtAFolder(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"out", "ca.pem", "../ca.pem"}, {".", "ca.pem", "ca.pem"}, {"out/sub", ".", "../.."}, {"out", "out/ca.pem", "ca.pem"}, {".", ".", "."}, {"/a/b", "/a/c", "../c"},
	} {
		require.Equal(t, filepath.FromSlash(c[2]), files.Relative(filepath.FromSlash(c[0]), filepath.FromSlash(c[1])), c)
	}
}
