package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// endpoints names method and path of the requests of a finding that went to several operations; empty: it was one.
func endpoints(f checker.Finding) string {
	if !slices.Contains(f.Circumstances, checker.OtherWay) && !slices.Contains(f.Circumstances, checker.OtherOperation) {
		return ""
	}
	var all []string
	for _, r := range f.Requests {
		path, _, _ := strings.Cut(r.Path, "?")
		if one := name(fmt.Sprintf("%s %s", r.Method, path)); !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	if len(all) == 1 && slices.Contains(f.Circumstances, checker.OtherWay) {
		return fmt.Sprintf(" (the key in two places of %s)", all[0])
	}
	if len(all) < 2 {
		return ""
	}
	return fmt.Sprintf(" (%s)", english.List(all, "and"))
}
