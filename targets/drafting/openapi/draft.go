package openapi

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// Draft turns an operation into a draft. Variables begin with a prefix, such as SHOP.
func (d *Document) Draft(c Create, prefix string) (drafting.Draft, error) {
	return d.draft(c, prefix, 0)
}

// draft is Draft for the n-th generation of things that have to exist.
func (d *Document) draft(c Create, prefix string, generation int) (drafting.Draft, error) {
	draft := drafting.Draft{
		Name: c.Name, Summary: c.Summary, Method: c.Method, Header: map[string]string{}, Statuses: c.statuses(),
	}
	s := sampler{}
	schema := c.schema()
	if schema != nil {
		if err := d.withBody(c, schema, &s, &draft); err != nil {
			return drafting.Draft{}, err
		}
	}
	if draft.Key = c.key(flatten(schema, 0)); draft.Key.In == contract.KeyInBody {
		draft.KeyGiven, _ = draft.Body[draft.Key.Name].(string)
		delete(draft.Body, draft.Key.Name)
	}
	c.keyForm(&draft, flatten(schema, 0))
	draft.Identity = c.identity()
	s.into(&draft)
	c.parameters(&draft, prefix)
	d.credentials(c, &draft, prefix)
	d.parents(c, &draft, prefix, generation)
	if d.deletes(c) {
		draft.Remove = []drafting.Step{drafting.Removing(draft)}
	}
	return draft, nil
}

// withBody gives a draft a sample of the body.
func (d *Document) withBody(c Create, schema *openapi3.SchemaRef, s *sampler, draft *drafting.Draft) error {
	asJSON := jsonSchema(c.op) != nil
	draft.Query = c.queried()
	draft.Form = !asJSON && !draft.Query
	listed := asJSON && ofObjects(flatten(schema, 0))
	if listed {
		schema = inMember(schema)
		drafting.AsList(draft)
	}
	body, isObject := s.body(c.op, schema, listed)
	if !isObject {
		return fmt.Errorf("the body of %s %s is no JSON object", c.Method, c.Path)
	}
	if !asJSON {
		s.flat(body)
	}
	if err := d.doc.ValidateSchemaJSON(schema.Value, jsonValue(body), openapi3.VisitAsRequest()); err != nil {
		draft.Doubts = append(draft.Doubts, "Whether the sample body fits its schema: "+reason(err)+".")
	}
	draft.Body = body
	return nil
}

// reason is what an error of the schema says, without the schema.
func reason(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimRight(oneLine(first), ".")
}

// body is a sample of the body: the one that the document gives for it, where it fits, or one that is made.
func (s *sampler) body(op *openapi3.Operation, schema *openapi3.SchemaRef, listed bool) (map[string]any, bool) {
	flat := flatten(schema, 0)
	for _, given := range bodyExamples(op) {
		example := plain(given)
		if list, isList := example.([]any); isList && listed && len(list) > 0 {
			example = map[string]any{drafting.ListMember: list}
		}
		if object, ok := example.(map[string]any); ok && fits(flat, example) {
			s.note(flat, "", "", example, true)
			return object, true
		}
	}
	if kind(flat) != "object" && flat.Type != nil {
		return nil, false
	}
	object, ok := s.object(flat, "", 0).(map[string]any)
	return object, ok
}

// ofObjects reports that a schema is that of a list of objects.
func ofObjects(schema *openapi3.Schema) bool {
	return kind(schema) == "array" && schema.Items != nil && kind(flatten(schema.Items, 0)) == "object"
}

// inMember is the schema of a mapping whose one member is the list that a schema describes.
func inMember(list *openapi3.SchemaRef) *openapi3.SchemaRef {
	return openapi3.NewObjectSchema().WithPropertyRef(drafting.ListMember, list).WithRequired([]string{drafting.ListMember}).NewRef()
}

// bodyExamples are the examples that stand beside a body's schema.
func bodyExamples(op *openapi3.Operation) []any {
	if op.RequestBody == nil {
		return nil
	}
	var all []any
	content := op.RequestBody.Value.Content
	for _, kind := range sortedKeys(content) {
		media := content[kind]
		if media == nil || jsonContent(openapi3.Content{kind: media}) == nil && media != op.RequestBody.Value.Content.Get(formType) {
			continue
		}
		all = append(all, media.Example)
		for _, name := range sortedKeys(media.Examples) {
			if example := media.Examples[name]; example != nil && example.Value != nil {
				all = append(all, example.Value.Value)
			}
		}
	}
	return all
}

// into hands over what was noted about the members, but for the key's.
func (s *sampler) into(draft *drafting.Draft) {
	keys := jsonpointer.Of(draft.Key.Name)
	if len(s.texts) == 0 {
		s.texts = s.spare
	}
	slices.SortStableFunc(s.texts, func(a, b text) int {
		return cmp.Or(cmp.Compare(strings.Count(a.pointer, "/"), strings.Count(b.pointer, "/")), cmp.Compare(a.rank, b.rank))
	})
	for _, t := range s.texts {
		if draft.Key.In != contract.KeyInBody || t.pointer != keys {
			draft.Texts = append(draft.Texts, t.pointer)
		}
	}
	for _, o := range s.others {
		if draft.Key.In != contract.KeyInBody || o.Pointer != keys {
			draft.Others = append(draft.Others, o)
		}
	}
}

// statuses are the documented ones, sorted.
func (c Create) statuses() []int {
	var all []int
	for _, code := range c.op.Responses.Keys() {
		if status, err := strconv.Atoi(code); err == nil {
			all = append(all, status)
		}
	}
	slices.Sort(all)
	return all
}

// identity points to the id in the documented answer of success, which may be wrapped once.
func (c Create) identity() string {
	for _, status := range c.statuses() {
		ref := c.op.Responses.Value(strconv.Itoa(status))
		if status < 200 || status > 299 || ref == nil || ref.Value == nil {
			continue
		}
		answer := flatten(jsonContent(ref.Value.Content), 0)
		if pointer := idOf("", answer); pointer != "" {
			return pointer
		}
		for _, name := range sortedKeys(answer.Properties) {
			if pointer := idOf(jsonpointer.Of(name), flatten(answer.Properties[name], 0)); pointer != "" {
				return pointer
			}
		}
	}
	return ""
}

// idOf points to the member that is called as an identity usually is, at this place; empty: there
// is none.
func idOf(at string, schema *openapi3.Schema) string {
	for _, name := range []string{"id", "_id", "uuid", "ID", "guid"} {
		if schema.Properties[name] != nil {
			return at + jsonpointer.Of(name)
		}
	}
	return ""
}

// all parameters, those of the operation first.
func (c Create) all() []*openapi3.Parameter {
	var found []*openapi3.Parameter
	for _, ref := range append(slices.Clone(c.op.Parameters), c.shared...) {
		if ref == nil || ref.Value == nil {
			continue
		}
		p := ref.Value
		if !slices.ContainsFunc(found, func(o *openapi3.Parameter) bool { return o.In == p.In && o.Name == p.Name }) {
			found = append(found, p)
		}
	}
	return found
}

// key is the idempotency key that the operation documents.
func (c Create) key(body *openapi3.Schema) targets.Key {
	places := map[string]contract.KeyPlace{"header": contract.KeyInHeader, "query": contract.KeyInQuery, "cookie": contract.KeyInCookie}
	for _, p := range c.all() {
		if place, ok := places[p.In]; ok && namesKey(p.Name, p.Description) {
			return targets.Key{Key: contract.Key{In: place, Name: p.Name, Required: p.Required, Format: keyFormat(flatten(p.Schema, 0))}}
		}
	}
	if chosen := c.chosen(); chosen != "" {
		key := targets.Key{Key: contract.Key{In: contract.KeyInPath, Required: true}}
		for _, p := range c.all() {
			if p.In == "path" && p.Name == chosen {
				key.Format = keyFormat(flatten(p.Schema, 0))
			}
		}
		return key
	}
	for _, name := range sortedKeys(body.Properties) {
		if member := flatten(body.Properties[name], 0); kind(member) == "string" && namesKey(name, member.Description) {
			return targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: name, Required: slices.Contains(body.Required, name), Format: keyFormat(member)}}
		}
	}
	return targets.Key{}
}

// keyForm has keys drawn like the document's example of one, or like what its pattern allows, where that is no UUID.
func (c Create) keyForm(draft *drafting.Draft, body *openapi3.Schema) {
	var pattern string
	if draft.Key.In == contract.KeyInBody {
		pattern = flatten(body.Properties[draft.Key.Name], 0).Pattern
	}
	for _, p := range c.all() {
		if p.In == string(draft.Key.In) && p.Name == draft.Key.Name {
			draft.KeyGiven, _ = parameterValue(p)
			pattern = flatten(p.Schema, 0).Pattern
		}
	}
	const uuid = "6f1c2a9e-3b4d-4c5f-8a7b-0d1e2f3a4b5c"
	form, err := regexp.Compile(pattern)
	if err != nil || form.MatchString(uuid) {
		return
	}
	for _, like := range []string{draft.KeyGiven, strings.ReplaceAll(draft.KeyGiven, "aa", "a0")} { // a pattern's own text shows no digits
		key := contract.Key{Like: like}
		if form.MatchString(like) && form.MatchString(key.Shaped("one")) && form.MatchString(key.Shaped("other")) {
			draft.KeyGiven = like
			drafting.LikeItsSource(draft)
			return
		}
	}
}

// namesKey goes by the name, and where that could mean something else as well by the description.
func namesKey(name, description string) bool {
	if drafting.NamesKey(name) {
		return true
	}
	squeezed := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
	known := []string{"requestid", "clienttoken", "clientrequestid", "clientrequesttoken", "requesttoken", "deduplicationid", "paypalrequestid"}
	says := strings.ToLower(description)
	return slices.Contains(known, strings.TrimPrefix(squeezed, "x")) && (strings.Contains(says, "idempoten") || strings.Contains(says, "duplicate") || strings.Contains(says, "retry") || strings.Contains(says, "retries"))
}

// keyFormat is the form that a schema asks of a key. Other forms than a UUID cannot be told from a
// schema.
func keyFormat(schema *openapi3.Schema) contract.Format {
	if schema.Format == "uuid" {
		return contract.OnlyUUID
	}
	return contract.AnyText
}

// parameters fills in the path, and adds what else the operation requires.
func (c Create) parameters(draft *drafting.Draft, prefix string) {
	draft.Path = drafting.Escape(c.Path)
	var query []string
	for _, p := range c.all() {
		if p.Name == draft.Key.Name || !p.Required && p.In != "path" || c.carries(p) {
			continue
		}
		value, known := parameterValue(p)
		switch p.In {
		case "path":
			if draft.Key.In == contract.KeyInPath && p.Name == c.chosen() {
				draft.Path = strings.ReplaceAll(draft.Path, "{"+p.Name+"}", "{{.Key}}")
				continue
			}
			text := drafting.Escape(url.PathEscape(value))
			if !known {
				text = unknownParameter(prefix, p.Name, value)
				draft.Doubts = append(draft.Doubts, whichParameter(prefix, p.Name))
			}
			draft.Path = strings.ReplaceAll(draft.Path, "{"+p.Name+"}", text)
		case "query":
			query = append(query, drafting.Escape(url.QueryEscape(p.Name)+"="+url.QueryEscape(value)))
		case "header":
			if !slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.Name)) {
				draft.Header[p.Name] = drafting.Escape(value)
			}
		}
	}
	if len(query) > 0 {
		draft.Path += "?" + strings.Join(query, "&")
	}
}

// parameterValue is a value for a parameter, and whether the document gives it.
func parameterValue(p *openapi3.Parameter) (string, bool) {
	if p.Example != nil {
		return fmt.Sprint(plain(p.Example)), true
	}
	schema := flatten(p.Schema, 0)
	_, known := documented(schema)
	value := (&sampler{}).sample(&openapi3.SchemaRef{Value: schema}, "", p.Name, deepest)
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	return fmt.Sprint(value), known
}

// credentials adds what the operation's first security requirement asks for, as variables.
func (d *Document) credentials(c Create, draft *drafting.Draft, prefix string) {
	requirements := d.doc.Security
	if c.op.Security != nil {
		requirements = *c.op.Security
	}
	if len(requirements) == 0 || d.doc.Components == nil {
		return
	}
	for _, name := range sortedKeys(requirements[0]) {
		if ref := d.doc.Components.SecuritySchemes[name]; ref != nil && ref.Value != nil {
			d.credential(ref.Value, draft, prefix)
		}
	}
	if len(requirements) > 1 {
		draft.Doubts = append(draft.Doubts, "The document allows other credentials as well; the first ones are used.")
	}
}

// credential fills in what one scheme asks for: what signing in gives where the document has an operation for
// that, or else a variable.
func (d *Document) credential(scheme *openapi3.SecurityScheme, draft *drafting.Draft, prefix string) {
	need := func(word string) string {
		variable := drafting.Variable(prefix, word)
		draft.Needed = append(draft.Needed, variable)
		return "${" + variable + "}"
	}
	bearer := scheme.Type == "http" && strings.EqualFold(scheme.Scheme, "bearer") || scheme.Type == "oauth2" || scheme.Type == "openIdConnect"
	switch {
	case bearer && d.signed("", draft, prefix):
		draft.Header["Authorization"] = "Bearer {{.Login.Token}}"
	case scheme.Type == "apiKey" && scheme.In == "cookie" && d.signed(scheme.Name, draft, prefix):
		draft.Header["Cookie"] = scheme.Name + "={{.Login.Token}}"
	case scheme.Type == "http" && strings.EqualFold(scheme.Scheme, "basic"):
		draft.Header["Authorization"] = "Basic " + need("BASIC")
		draft.Doubts = append(draft.Doubts, fmt.Sprintf("%s is user:password in base64.", drafting.Variable(prefix, "BASIC")))
	case scheme.Type == "http", scheme.Type == "oauth2", scheme.Type == "openIdConnect":
		draft.Header["Authorization"] = "Bearer " + need("TOKEN")
	case scheme.Type == "apiKey" && scheme.In == "header":
		draft.Header[scheme.Name] = need(scheme.Name)
	case scheme.Type == "apiKey" && scheme.In == "cookie":
		draft.Header["Cookie"] = scheme.Name + "=" + need(scheme.Name)
	case scheme.Type == "apiKey" && scheme.In == "query":
		joint := "?"
		if strings.Contains(draft.Path, "?") {
			joint = "&"
		}
		draft.Path += joint + url.QueryEscape(scheme.Name) + "=" + need(scheme.Name)
	default:
		draft.Doubts = append(draft.Doubts, fmt.Sprintf("How to sign in: the document says %s, which init cannot fill in.", scheme.Type))
	}
}
