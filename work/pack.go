package work

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/rundir"
)

// packed are the names of the files of a run that it takes to judge it. What the target prints may hold secrets, and stays where it
// is. A target file is beside a finding only where it spells no secret out.
var packed = map[string]bool{
	rundir.ManifestName: true, rundir.HistoryName: true, rundir.PlanName: true, rundir.ScenarioName: true, rundir.FindingName: true, rundir.TargetName: true,
}

// What is taken from another machine at most.
const (
	mostPacked   = 100_000            // files
	mostUnpacked = files.MostRecorded // bytes of all of them
	deepest      = 8                  // folders around a file, and its name
	longestName  = 1 << 10            // bytes, with the folders
)

// Unfit is why an archive can never be read, however often it is fetched.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

var errTooLarge = fmt.Errorf("the files of a shard hold more than %d GiB: take more --shards", mostUnpacked>>30)

// pack writes the directory of a run as a compressed archive.
func pack(dir string, to io.Writer) error {
	compressed, _ := gzip.NewWriterLevel(to, gzip.BestSpeed)
	archive := tar.NewWriter(compressed)
	left := int64(mostUnpacked)
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !packed[entry.Name()] {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		file, err := files.Open(name, files.MostHistory)
		if err != nil {
			return err
		}
		defer file.Close()
		if left -= file.Size(); left < 0 {
			return unfit{errTooLarge}
		}
		err = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(relative), Mode: 0o600, Size: file.Size()})
		if err == nil {
			_, err = io.CopyN(archive, file, file.Size())
		}
		return err
	})
	return errors.Join(err, archive.Close(), compressed.Close())
}

// unpack reads such an archive into a new directory. It writes nothing outside of it, and no more than so many bytes, whatever the
// archive says. The error is unfit where the archive itself is at fault, and not the way that it came.
func unpack(from io.Reader, dir string, most int64) error {
	err := unpackAll(from, dir, most)
	for _, wrong := range []error{gzip.ErrHeader, gzip.ErrChecksum, tar.ErrHeader, tar.ErrFieldTooLong} {
		if errors.Is(err, wrong) {
			return unfit{err}
		}
	}
	return err
}

// unpackAll unpacks file by file. Each has been counted before it is written, by what its header
// says: so an archive that says too little is cut off by the limit of what is read, and one that
// says too much by the sum.
func unpackAll(from io.Reader, dir string, most int64) error {
	plain, err := gzip.NewReader(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	limited := &io.LimitedReader{R: plain, N: most + tarBlocks}
	archive := tar.NewReader(limited)
	for range mostPacked {
		limited.N += tarBlocks
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, limited) // its sum is behind the end
			if limited.N <= 0 {
				return unfit{errTooLarge}
			}
			return err
		}
		if limited.N <= 0 {
			return unfit{errTooLarge}
		}
		if err != nil {
			return err
		}
		if most -= header.Size; most < 0 {
			return unfit{errTooLarge}
		}
		if err := unpackFile(root, header, archive); err != nil {
			return fmt.Errorf("%.100q: %w", header.Name, err)
		}
	}
	return unfit{fmt.Errorf("it holds more than %d files", mostPacked)}
}

// tarBlocks are the bytes that an archive has for a file beside its content: a header, an extended one, and what fills the last block up.
const tarBlocks = 4 << 10

// unpackFile writes one file of a run. A name that leads out of the directory is refused, and the
// root holds even where a name would pass: a link in the way does not lead out of it. A file that
// comes twice is an error, not written over.
func unpackFile(root *os.Root, header *tar.Header, from io.Reader) error {
	if header.Typeflag != tar.TypeReg || !filepath.IsLocal(header.Name) || !packed[path.Base(header.Name)] ||
		len(header.Name) > longestName || strings.Count(header.Name, "/") >= deepest {
		return unfit{errors.New("it is no file of a run")}
	}
	if err := root.MkdirAll(path.Dir(header.Name), 0o700); err != nil {
		return err
	}
	file, err := root.OpenFile(header.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
