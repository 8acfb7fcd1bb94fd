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

	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/rundir"
)

// packed are the names of the files of a run that it takes to judge it. What the target prints may hold secrets, and stays where it
// is. A target file is beside a finding only where it spells no secret out.
var packed = map[string]bool{
	rundir.ManifestName: true, rundir.HistoryName: true, rundir.PlanName: true, rundir.ScenarioName: true, rundir.FindingName: true, rundir.TargetName: true,
}

// mostPacked bounds the number of files that are taken from another machine.
const mostPacked = 100_000

// pack writes the directory of a run as a compressed archive.
func pack(dir string, to io.Writer) error {
	compressed, _ := gzip.NewWriterLevel(to, gzip.BestSpeed)
	archive := tar.NewWriter(compressed)
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
		err = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(relative), Mode: 0o600, Size: file.Size()})
		if err == nil {
			_, err = io.CopyN(archive, file, file.Size())
		}
		return err
	})
	return errors.Join(err, archive.Close(), compressed.Close())
}

// unpack reads such an archive into a new directory. It writes nothing outside of it, whatever the archive says.
func unpack(from io.Reader, dir string) error {
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
	archive := tar.NewReader(plain)
	for range mostPacked {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, plain) // its sum is behind the end
			return err
		}
		if err != nil {
			return err
		}
		if err := unpackFile(root, header, archive); err != nil {
			return fmt.Errorf("%q: %w", header.Name, err)
		}
	}
	return fmt.Errorf("it holds more than %d files", mostPacked)
}

func unpackFile(root *os.Root, header *tar.Header, from io.Reader) error {
	if header.Typeflag != tar.TypeReg || !filepath.IsLocal(header.Name) || !packed[path.Base(header.Name)] || header.Size > files.MostHistory {
		return errors.New("it is no file of a run")
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
