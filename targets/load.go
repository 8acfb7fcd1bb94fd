package targets

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"net/http"
	"path/filepath"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

//go:embed target.schema.json
var schema []byte

// Schema returns the JSON Schema of target files.
func Schema() []byte { return bytes.Clone(schema) }

// What a target file may leave out.
const (
	usualSettle = contract.Duration(500 * time.Millisecond)
	usualKey    = "Idempotency-Key"
	usualWithin = contract.Duration(10 * time.Second)
	usualHold   = contract.Duration(300 * time.Millisecond)
)

// Load reads a target file, with env for its variables, and fills in what it leaves out. The error
// is document.Mistakes: all of them, with their places and without the values of variables.
func Load(file string, data []byte, env func(string) (string, bool)) (Target, error) {
	return LoadInstead(file, data, env, nil)
}

// LoadInstead is Load with texts that stand in place of the file's, by JSON pointer: /base_url,
// for one. So a target that a program serves at a free port, or a database that it opens itself,
// needs no file of its own.
func LoadInstead(file string, data []byte, env func(string) (string, bool), instead map[string]string) (Target, error) {
	doc, err := document.Parse(data, document.Options{File: file, Schema: schema, Env: env, Instead: instead})
	if doc == nil {
		return Target{}, err
	}
	var mistakes document.Mistakes
	if err != nil && !errors.As(err, &mistakes) {
		return Target{}, err
	}
	t, unfit := decode(doc)
	if unfit != nil {
		// Where the schema has found a mistake already, the decoder has nothing to add.
		if err == nil {
			err = unfit
		}
		return Target{}, err
	}
	if given := instead["/database/url"]; given != "" && !t.Database.Declared() && !t.AsksItself() {
		t.Database.URL = given // the file may leave out what a program gives: effects are asked there as rows are
	}
	t.complete(file)
	t.locate(filepath.Dir(file))
	t.collectSecrets(doc)
	mistakes = append(mistakes, validate(doc, t)...)
	if err := mistakes.Err(); err != nil {
		return Target{}, err
	}
	return t, nil
}

// decode reads the target over the contract of its preset.
func decode(doc *document.Document) (Target, error) {
	var head struct {
		Contract struct {
			Preset string `yaml:"preset"`
		} `yaml:"contract"`
	}
	if err := doc.Decode(&head); err != nil {
		return Target{}, err
	}
	promise, known := Preset(head.Contract.Preset)
	if !known { // which the schema has noticed
		promise = usual()
	}
	forget(&promise, doc)
	t := Target{Settle: usualSettle, Contract: promise}
	err := doc.Decode(&t)
	t.AlwaysSettles = doc.Has("/settle")
	return t, err
}

// forget empties the maps that the file sets: decoding would add to those of the preset.
func forget(c *contract.Contract, doc *document.Document) {
	for name, signature := range signatures(c) {
		if doc.Has(jsonpointer.Of("contract", name, "where")) {
			signature.Where = nil
		}
		if doc.Has(jsonpointer.Of("contract", name, "headers")) {
			signature.Headers = nil
		}
	}
	if doc.Has("/contract/replay/status") {
		c.Replay.Status = nil
	}
}

// signatures are those that a preset may have, by the line of the contract.
func signatures(c *contract.Contract) map[string]*contract.Signature {
	return map[string]*contract.Signature{
		"ack": &c.Ack.Signature, "fingerprint": &c.Fingerprint.Signature, "in_progress": &c.InProgress.Signature,
		"existing": &c.Existing.Signature, "throttled": &c.Throttled, "missing_key": &c.MissingKey,
		"expiry": &c.Expiry.Signature,
	}
}

// complete fills in what the file leaves out.
func (t *Target) complete(file string) {
	completeSteps(t.Login)
	if t.Process != nil {
		t.Process.complete(file)
	}
	for _, sink := range t.Sinks {
		if sink.HTTP != nil {
			sink.HTTP.complete()
		}
		if sink.RabbitMQ != nil && sink.RabbitMQ.Exchange != "" {
			sink.RabbitMQ.RoutingKey = cmp.Or(sink.RabbitMQ.RoutingKey, "#")
		}
	}
	for i, path := range t.Database.Schema {
		t.Database.Schema[i] = beside(file, path)
	}
	for name, o := range t.Operations {
		completeSteps(o.Prepare)
		completeSteps(o.Key.Issued)
		completeSteps(o.Remove)
		completeSteps(o.Cleanup)
		if o.Request.Method == "" {
			o.Request.Method = http.MethodPost
		}
		if o.Key.In == contract.KeyInHeader && o.Key.Name == "" {
			o.Key.Name = usualKey
		}
		if o.Key.In == contract.KeyInPath {
			o.Key.Required = true
		}
		o.Request.Sign.complete()
		o.Identity.Header = http.CanonicalHeaderKey(o.Identity.Header)
		t.Operations[name] = o
	}
	t.completeWays()
	if g := t.Database.WriteGate; g != nil && g.Longest == 0 {
		g.Longest = usualHold
	}
	completeContract(&t.Contract)
}

// completeSteps gives steps the method and the signature that the file leaves out.
func completeSteps(steps []Step) {
	for i := range steps {
		if steps[i].Request.Method == "" {
			steps[i].Request.Method = http.MethodPost
		}
		steps[i].Request.Sign.complete()
	}
}

// complete fills in what is signed and how it is written; nil: nothing is signed.
func (s *Sign) complete() {
	if s == nil {
		return
	}
	s.Over = cmp.Or(s.Over, usualOver)
	s.Encoding = cmp.Or(s.Encoding, EncodingHex)
}

// completeContract fills in what a contract leaves out, and spells the names of headers as
// net/http does, because they are compared as they stand. An expiry without a time is none: so a
// file takes back the one of its preset.
func completeContract(c *contract.Contract) {
	accepted := &c.Ack.Accepted
	for _, s := range []*contract.Signature{&accepted.Done, &accepted.Failed} {
		if len(s.Statuses) == 0 && len(s.Where) > 0 {
			s.Statuses = []int{http.StatusOK}
		}
	}
	c.Existing.Identity.Header = http.CanonicalHeaderKey(c.Existing.Identity.Header)
	canonical(&accepted.Signature)
	canonical(&c.Errors.Declined)
	for _, s := range signatures(c) {
		canonical(s)
	}
	if len(accepted.Statuses) > 0 && accepted.Within == 0 {
		accepted.Within = usualWithin
	}
	if c.Expiry.After == 0 { // also where a file takes back its preset's
		c.Expiry = contract.Expiry{}
	}
}

// canonical spells the names of headers as they are compared.
func canonical(s *contract.Signature) {
	spelled := map[string]string{}
	for name, pattern := range s.Headers {
		spelled[http.CanonicalHeaderKey(name)] = pattern
	}
	if len(spelled) > 0 {
		s.Headers = spelled
	}
}
