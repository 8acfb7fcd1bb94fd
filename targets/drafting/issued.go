package drafting

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets"
)

// preparedValue begins what stands for a value of an answer to a step of prepare.
const preparedValue = "{{.Prepared."

// IssuedKeys are the draft with one value after the other for its key that a page gives to each create, such as the token of a form: it may
// be good for one creation. It takes what names such a place, too.
func IssuedKeys(d Draft) (drafts []Draft, called []string) {
	try := func(key targets.Key, value string) {
		name, whole := strings.CutSuffix(strings.TrimPrefix(value, preparedValue), "}}")
		page := slices.IndexFunc(d.Prepare, func(s Step) bool { return s.Method == http.MethodGet && s.Extract[name] != (Extract{}) })
		if !strings.HasPrefix(value, preparedValue) || !whole || page < 0 {
			return
		}
		key.Required = true
		with, asks := d.WithKeyIn(key), d.Prepare[page]
		asks.Extract = map[string]Extract{targets.IssuedKey: asks.Extract[name]}
		if header, _ := cookiesOf(with); header != "" { // a token may be that of a session
			asks.Header = cloneTexts(asks.Header)
			asks.Header[header] = with.Header[header]
		}
		with.KeySteps, with.Prepare = []Step{asks}, slices.Clone(with.Prepare)
		with.Prepare[page].Extract = maps.Clone(with.Prepare[page].Extract)
		if delete(with.Prepare[page].Extract, name); len(with.Prepare[page].Extract) == 0 {
			with.Prepare = slices.Delete(with.Prepare, page, page+1)
		}
		drafts, called = append(drafts, with), append(called, Called(key))
	}
	for _, pointer := range slices.Sorted(maps.Keys(d.Templates)) {
		if _, there := jsonpointer.Resolve(d.Body, pointer); there {
			try(targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: memberName(pointer)}}, d.Templates[pointer])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Header)) {
		try(InHeader(name), d.Header[name])
	}
	_, pairs := cookiesOf(d)
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if ofRequest(name) {
			try(targets.Key{Key: contract.Key{In: contract.KeyInCookie, Name: name}}, value)
		}
	}
	return drafts, called
}
