package learn

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// moved follows an answer that says where the create is to be sent instead, as frameworks do that add a slash to each path, and reports
// whether it leads to a path of the target that was not tried. What leads to another host, or by https, is said and not followed.
func moved(i *inquiry, a drafting.Answer) bool {
	if !slices.Contains([]int{http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, a.Status) || i.followed {
		return false
	}
	base, err := url.Parse(i.file.BaseURL)
	if err != nil {
		return false
	}
	to, err := url.Parse(a.Location)
	if err != nil || a.Location == "" {
		return false
	}
	to = base.ResolveReference(to)
	within, ok := strings.CutPrefix(to.EscapedPath(), strings.TrimRight(base.EscapedPath(), "/"))
	if to.Host != base.Host || to.Scheme != base.Scheme || !ok || !strings.HasPrefix(within, "/") {
		return false
	}
	i.followed = true
	i.file.Draft.Path = newPath(i.file.Draft.Path, within)
	if i.plain != nil {
		i.plain.Path = newPath(i.plain.Path, within)
		i.paths = drafting.OtherPaths(*i.plain)
	}
	fmt.Fprintf(i.Said, "it leads to %s: trying that path\n", within)
	return true
}

// newPath is a path with the one that an answer has sent its request to. Where templates are in it, only the slash at its end can differ.
func newPath(old, to string) string {
	path, query, asks := strings.Cut(old, "?")
	switch {
	case !strings.Contains(path, "{{"):
		path = drafting.Escape(to)
	case strings.HasSuffix(to, "/"):
		path = strings.TrimRight(path, "/") + "/"
	default:
		path = strings.TrimRight(path, "/")
	}
	if asks {
		return path + "?" + query
	}
	return path
}
