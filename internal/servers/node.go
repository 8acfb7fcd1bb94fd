package servers

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed testdata/node/package.json testdata/node/package-lock.json
var nodeFiles embed.FS

// nodeNames are the files that say which packages of Node the tests use, and their digests.
var nodeNames = []string{"package.json", "package-lock.json"}

// ErrNoNode says that a program is missing with which the packages of Node are installed.
var ErrNoNode = errors.New("the tests with clients of Node are skipped: apt-get install nodejs npm, and make servers again")

// Node returns the path of Node, and the folder in whose node_modules the packages are that the tests use, if both are there.
func Node() (program, folder string, found bool) {
	program, err := exec.LookPath("node")
	if err != nil {
		return "", "", false
	}
	if folder, err = nodeFolder(); err != nil {
		return "", "", false
	}
	_, err = os.Stat(filepath.Join(folder, installedMark))
	return program, folder, err == nil
}

// NodeRequired reports that what Node takes must not be missing, as where DOUBLETAP_NODE is "required".
func NodeRequired() bool { return os.Getenv("DOUBLETAP_NODE") == "required" }

// mostNPM bounds the download, where there is no network. It takes 20 s where there is.
const mostNPM = 3 * time.Minute

// installedMark is written when all packages are there.
const installedMark = ".installed"

// nodeFolder is a folder of the user's cache for these versions of the packages.
func nodeFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range nodeNames {
		text, err := nodeFiles.ReadFile("testdata/node/" + name)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	return filepath.Join(cache, "doubletap", "node-"+hex.EncodeToString(sum.Sum(nil)[:8])), nil
}

// InstallNode puts the packages of Node that the tests use into the user's cache, as the lock file has them, and runs none of their
// scripts. With everything in place it does nothing. Without Node or npm the error is ErrNoNode.
func InstallNode(ctx context.Context, out io.Writer) error {
	if _, _, found := Node(); found {
		return nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return ErrNoNode
	}
	if _, err := exec.LookPath("node"); err != nil {
		return ErrNoNode
	}
	folder, err := nodeFolder()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, name := range nodeNames {
		text, err := nodeFiles.ReadFile("testdata/node/" + name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, mostNPM)
	defer cancel()
	command := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
	command.Dir, command.Stdout, command.Stderr = folder, out, out
	if err := command.Run(); err != nil {
		return fmt.Errorf("the tests with clients of Node are skipped: npm ci in %s: %w", folder, err)
	}
	return os.WriteFile(filepath.Join(folder, installedMark), nil, 0o644)
}
