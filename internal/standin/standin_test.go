package standin_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/standin"
)

func TestAProgramRunsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	errs := make(chan error, 400)
	for worker := range 8 {
		all.Go(func() {
			for n := range 50 {
				path := filepath.Join(dir, strconv.Itoa(worker)+"-"+strconv.Itoa(n))
				err := standin.Program(path, "#!/bin/sh\nexit 0\n")
				if err == nil {
					err = exec.Command(path).Run()
				}
				errs <- err
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
}
