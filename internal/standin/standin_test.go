package standin_test

import (
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
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

func TestNobodyListensAndNobodyElseCan(t *testing.T) {
	t.Parallel()
	address, release, err := standin.Nobody()
	require.NoError(t, err)
	defer release()
	_, err = net.Dial("tcp", address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	_, err = net.Listen("tcp", address)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}
