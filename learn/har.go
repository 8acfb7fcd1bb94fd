package learn

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// largestRecording bounds a HAR file, in bytes: browsers write every answer into it.
const largestRecording = 256 << 20

// fromHAR drafts a target file from a recorded request.
func (i *inquiry) fromHAR(ctx context.Context) error {
	data, err := files.Read(i.HAR, largestRecording)
	if err != nil {
		return runerror.Config(runerror.Unreadable("HAR file", i.HAR, err))
	}
	recorded, err := drafting.ReadHAR(data)
	if err != nil {
		return runerror.Configf("%s: %w", i.HAR, err)
	}
	chosen, err := i.recorded(ctx, recorded)
	if err != nil {
		return err
	}
	if err := i.base(ctx, chosen.URL.Scheme+"://"+chosen.URL.Host); err != nil {
		return err
	}
	i.file.Target, i.file.Source = "api", filepath.Base(i.HAR)
	i.file.Draft = chosen.Draft(drafting.Prefix(i.file.Target))
	i.file.Draft.Name = chosen.Name
	return nil
}

// recorded finds the request that was asked for, or the only one, or asks.
func (i *inquiry) recorded(ctx context.Context, all []drafting.Recorded) (drafting.Recorded, error) {
	if i.Operation != "" {
		if n := slices.IndexFunc(all, func(r drafting.Recorded) bool { return r.Name == i.Operation || r.Method+" "+r.URL.Path == i.Operation }); n >= 0 {
			return all[n], nil
		}
		return drafting.Recorded{}, runerror.Configf("%s has no request %q that is a POST, PUT or PATCH with a JSON object or a form and was answered 2xx or redirected%s", i.HAR, i.Operation, below(recordedLines(all)))
	}
	likely := slices.DeleteFunc(slices.Clone(all), func(r drafting.Recorded) bool { return !r.LooksCreating() })
	if len(likely) == 0 && len(all) > 0 {
		return drafting.Recorded{}, runerror.Configf("%s has no request that looks as if it created something, going by the ends of the paths; if one does, name it with --operation%s", i.HAR, below(recordedLines(all)))
	}
	if len(likely) == 0 {
		return drafting.Recorded{}, runerror.Configf("%s has no request that creates something: none is a POST, PUT or PATCH with a JSON object or a form that was answered 2xx or redirected%s", i.HAR, below(recordedLines(all)))
	}
	return chosen(ctx, i.Asker, candidates[drafting.Recorded]{from: i.HAR, kind: "request", all: likely, lines: recordedLines(likely), keyed: drafting.Recorded.Keyed})
}

// recordedLines describes requests, each in a line, without their queries.
func recordedLines(all []drafting.Recorded) []string {
	var rows [][]string
	for _, r := range all {
		rows = append(rows, []string{r.Name, fmt.Sprintf("%s %s%s", r.Method, r.URL.Host, r.URL.EscapedPath()), fmt.Sprintf("answered %d", r.Status)})
	}
	return aligned(rows)
}
