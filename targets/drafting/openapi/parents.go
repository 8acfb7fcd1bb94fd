package openapi

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// mostGenerations is how many things are created one after the other, each for the next.
const mostGenerations = 3

// parents adds the creates of what has to exist: what ids in the path lead to, and what ids in the body name.
func (d *Document) parents(c Create, draft *drafting.Draft, prefix string, generation int) {
	if generation >= mostGenerations {
		return
	}
	for _, p := range c.all() {
		before, _, inside := strings.Cut(c.Path, "/{"+p.Name+"}")
		if p.In != "path" || !inside || before == "" || p.Name == c.chosen() {
			continue
		}
		noun := idOfWhat(p.Name)
		if noun == "" {
			noun = singular(before[strings.LastIndex(before, "/")+1:])
		}
		parent, found := d.createAt(before)
		if taken, ok := d.ahead(parent, found, noun, draft, prefix, generation); ok {
			draft.Path = strings.Replace(draft.Path, unknownIn(prefix, p.Name, draft.Path), "{{.Prepared."+taken+"}}", 1)
			draft.Doubts = slices.DeleteFunc(draft.Doubts, func(doubt string) bool { return doubt == whichParameter(prefix, p.Name) })
		}
	}
	drafting.Scalars("", draft.Body, func(pointer string, value any) {
		noun := idOfWhat(pointer[strings.LastIndex(pointer, "/")+1:])
		parent, found := d.createOf(noun)
		if noun == "" || !found || parent.Path == c.Path {
			return
		}
		if taken, ok := d.ahead(parent, found, noun, draft, prefix, generation); ok {
			draft.Refer(pointer, "Prepared."+taken, value)
		}
	})
}

// ahead adds the create of a parent to a draft, unless it is there already, and returns what its id is called.
func (d *Document) ahead(parent Create, found bool, noun string, draft *drafting.Draft, prefix string, generation int) (string, bool) {
	name := drafting.Exported(noun)
	for _, s := range draft.Prepare {
		if _, there := s.Extract[name]; there {
			return name, true
		}
	}
	if !found || name == "" {
		return "", false
	}
	made, err := d.draft(parent, prefix, generation+1)
	if err != nil || made.Identity == "" || made.Key.Required && (made.Key.In != contract.KeyInHeader || made.Key.Format != contract.AnyText) {
		return "", false
	}
	draft.Ahead(made, name)
	return name, true
}

// createAt finds the POST to a path.
func (d *Document) createAt(path string) (Create, bool) {
	if c, found := d.Find(http.MethodPost + " " + path); found {
		return c, true
	}
	creates := d.bodiless()
	if i := slices.IndexFunc(creates, func(c Create) bool { return c.Path == path }); i >= 0 {
		return creates[i], true
	}
	return Create{}, false
}

// bodiless lists the POST operations without a body that look as if they create something, such as a cart. They have no place for a
// marker, so that they can only go ahead of others.
func (d *Document) bodiless() []Create {
	var all []Create
	paths := d.doc.Paths.Map()
	for _, path := range sortedKeys(paths) {
		if item := paths[path]; item != nil && item.Post != nil && item.Post.RequestBody == nil {
			if c := (Create{Method: http.MethodPost, Path: path, op: item.Post, shared: item.Parameters}); c.looksCreating() {
				all = append(all, c)
			}
		}
	}
	return all
}

// createOf finds the operation that creates a thing of this name.
func (d *Document) createOf(noun string) (Create, bool) {
	for _, c := range slices.Concat(d.Creates(), d.bodiless()) {
		last := c.Path[strings.LastIndex(strings.TrimRight(c.Path, "/"), "/")+1:]
		if noun != "" && singular(last) == singular(noun) {
			return c, true
		}
	}
	return Create{}, false
}

var idSuffix = regexp.MustCompile(`^(.*[^_-])(_id|-id|Id|ID|_uuid|Uuid)$`)

// idOfWhat is the noun in the name of an id: of customer_id and customerId, customer. Empty: it names none.
func idOfWhat(name string) string {
	if found := idSuffix.FindStringSubmatch(name); found != nil {
		return found[1]
	}
	return ""
}

// singular is a noun of a path or a name, spelled in one way.
func singular(noun string) string {
	noun = strings.NewReplacer("_", "", "-", "", "/", "").Replace(strings.ToLower(noun))
	if stem, ok := strings.CutSuffix(noun, "ies"); ok {
		return stem + "y"
	}
	for _, ending := range []string{"sses", "xes", "ches", "shes"} {
		if strings.HasSuffix(noun, ending) {
			return strings.TrimSuffix(noun, "es")
		}
	}
	if strings.HasSuffix(noun, "ss") {
		return noun
	}
	return strings.TrimSuffix(noun, "s")
}

// unknownIn is what stands in a drafted path for a parameter of which the document gives no value.
func unknownIn(prefix, name, path string) string {
	begin := "${" + drafting.Variable(prefix, name) + ":-"
	if at := strings.Index(path, begin); at >= 0 {
		if end := strings.Index(path[at:], "}"); end > 0 {
			return path[at : at+end+1]
		}
	}
	return "{" + name + "}"
}

// unknownParameter is a variable with a default of the document's kind of value.
func unknownParameter(prefix, name, value string) string {
	return "${" + drafting.Variable(prefix, name) + ":-" + url.PathEscape(value) + "}"
}

// whichParameter is the doubt about it.
func whichParameter(prefix, name string) string {
	return fmt.Sprintf("Which %s the path leads to: set %s to one that exists.", name, drafting.Variable(prefix, name))
}
