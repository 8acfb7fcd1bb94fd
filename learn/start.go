package learn

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// readStart reads the command that starts the target.
func readStart(ctx context.Context, i *inquiry) error {
	if i.Start == "" {
		return nil
	}
	base, err := url.Parse(i.file.BaseURL)
	if err != nil || !sut.Loopback(base.Hostname()) {
		return runerror.Configf("--start: a service is started on this machine, and requests go to %s", i.file.BaseURL)
	}
	s, err := drafting.ReadStart(i.Start, i.Environment(), i.file.BaseURL, i.Database)
	if err != nil {
		return runerror.Configf("--start: %w", err)
	}
	if i.Output != "" {
		s.Directory = fromFolderOf(i.Output)
	}
	if i.db != nil && !i.Dry {
		s.Ready = readyPath(ctx, i.file.BaseURL)
	}
	i.file.Start = s
	return nil
}

// fromFolderOf is the way to this folder from that of a file; empty: it is the same.
func fromFolderOf(file string) string {
	if way := files.Relative(filepath.Dir(file), "."); way != "." {
		return filepath.ToSlash(way)
	}
	return ""
}

// readyPath is where the target says that it is ready; empty: nowhere that is known.
func readyPath(ctx context.Context, base string) string {
	client := plainClient()
	for _, path := range []string{"/health", "/healthz", "/ready", "/readyz", "/livez", "/up"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+path, nil)
		if err != nil {
			return ""
		}
		answer, err := client.Do(request)
		if err != nil {
			return ""
		}
		_ = answer.Body.Close()
		if answer.StatusCode < http.StatusMultipleChoices {
			return path
		}
	}
	return ""
}
