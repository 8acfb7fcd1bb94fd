// Package files reads the files that a user names, and writes those that a user asks for. What is no regular file is not
// read: a named pipe would wait for ever, and a device has no end. Nothing is written through a symbolic link.
package files

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// How much is read of a file, in bytes.
const (
	MostText     = 64 << 20 // written by people or by tools for them
	MostRecorded = 4 << 30  // a report of doubletap's own, or a history that is read as a whole
	MostHistory  = 1 << 40  // a history that is read in parts
)

// Open opens a regular file of at most so many bytes for reading. It does not wait: a named pipe, a device, a socket and a
// folder are errors at once. No more than most bytes can be read of what it returns, even if the file grows.
func Open(path string, most int64) (*File, error) {
	// To open a device may do something, so the look comes first. The second look is at what was opened.
	info, err := os.Stat(path)
	if err == nil {
		err = regular(path, info, most)
	}
	var failed *fs.PathError
	if errors.As(err, &failed) {
		failed.Op = "open" // as everywhere else
	}
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = regular(path, info, most)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &File{path: path, file: file, size: info.Size(), left: most}, nil
}

// Check returns an error if something that is no regular file is at a path, without opening it: for programs that open it by
// its path.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // whoever opens it says so
	}
	return regular(path, info, math.MaxInt64)
}

// Read reads a regular file of at most so many bytes.
func Read(path string, most int64) ([]byte, error) {
	file, err := Open(path, most)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	return text, errors.Join(err, file.Close())
}

// File is a regular file that is open for reading.
type File struct {
	path string
	file *os.File
	size int64 // when it was opened
	left int64 // may still be read: a file grows, and those below /proc say that they are empty
}

// Size is how many bytes the file had when it was opened.
func (f *File) Size() int64 { return f.size }

// Read reads the next bytes, and returns an error once they are more than may be read.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	if f.left -= int64(n); f.left < 0 {
		return 0, fmt.Errorf("%s is larger than what is read of such a file", f.path)
	}
	return n, err
}

// ReadAt reads the bytes that the file had when it was opened.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	if at >= f.size {
		return 0, io.EOF
	}
	n, err := f.file.ReadAt(p[:min(int64(len(p)), f.size-at)], at)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// regular returns an error for what is no regular file of at most so many bytes.
func regular(path string, info fs.FileInfo, most int64) error {
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return fmt.Errorf("%s is %s, expected a regular file", path, kind(mode))
	case info.Size() > most:
		return fmt.Errorf("%s has %d MiB, and at most %d MiB are read", path, info.Size()>>20, most>>20)
	}
	return nil
}

// kind names what is no regular file.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	default:
		return "a device"
	}
}

// Folder is a folder of the disk as a file system, of which only regular files of at most [MostText] are read.
type Folder string

// Open opens a file or a folder.
func (f Folder) Open(name string) (fs.File, error) {
	info, err := fs.Stat(os.DirFS(string(f)), name)
	if err == nil && !info.IsDir() {
		err = regular(filepath.Join(string(f), name), info, MostText)
	}
	if err != nil {
		return nil, err
	}
	return os.DirFS(string(f)).Open(name)
}

// Replace writes a file with a renderer. A new one has the mode, less what the process's umask takes. What was there stays until all of it is
// written, also if the disk is full. A symbolic link is replaced itself, and what it leads to is left alone. Errors name the path, and not
// that of the file that is written for it.
func Replace(path string, mode fs.FileMode, render func(io.Writer) error) error {
	name := filepath.Join(filepath.Dir(path), "."+rand.Text())
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return about(path, err)
	}
	if err = errors.Join(render(writer{file, path}), file.Close()); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// writer writes to a file, and has errors name another path.
type writer struct {
	file *os.File
	path string
}

// Write names the path that the user gave, and not that of the file which is written in its place.
func (w writer) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	return n, about(w.path, err)
}

// about has an error name a path.
func about(path string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		failed.Path = path
	}
	return err
}

// Output is a file that a user asks for by name.
type Output struct {
	Path  string
	Mark  string      // stands in the first 4 KiB of such a file, so that one that doubletap made may be made anew
	Force bool        // replace what is there, whoever made it
	Mode  fs.FileMode // zero: 0o644
}

// Check returns an error if something is there that must not be replaced: another one's file or a symbolic link, unless it is
// forced, and what is no file at all. The error names the flag that forces it.
func (o Output) Check() error {
	info, err := os.Lstat(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0 && !o.Force:
		return fmt.Errorf("%s is a symbolic link; --force puts a file in its place", o.Path)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is %s, expected a regular file or none", o.Path, kind(info.Mode()))
	case o.Force || info.Size() == 0:
		return nil
	}
	made, err := o.made()
	switch {
	case err != nil || made:
	case o.Mark == "":
		err = fmt.Errorf("%s is there already; --force replaces it", o.Path)
	default:
		err = fmt.Errorf("%s is there already, and doubletap did not make it; --force replaces it", o.Path)
	}
	return err
}

// made reports that the file begins as one of doubletap's own.
func (o Output) made() (bool, error) {
	file, err := os.Open(o.Path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, 4<<10))
	return o.Mark != "" && bytes.Contains(head, []byte(o.Mark)), err
}

// Write writes the file, if [Output.Check] has no objection.
func (o Output) Write(render func(io.Writer) error) error {
	if err := o.Check(); err != nil {
		return err
	}
	mode := o.Mode
	if mode == 0 {
		mode = 0o644
	}
	return Replace(o.Path, mode, render)
}

// Relative is the path of a file as one that starts at a folder: with .. if it lies elsewhere, and an absolute one on another volume. Both
// are relative to the process's folder before; where that cannot be found, the path stays as it is.
func Relative(folder, path string) string {
	from, err := filepath.Abs(folder)
	to, unknown := filepath.Abs(path)
	if err != nil || unknown != nil {
		return path
	}
	if relative, err := filepath.Rel(from, to); err == nil {
		return relative
	}
	return to
}
