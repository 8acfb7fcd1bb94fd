package scenarios

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proofs"
)

//go:embed scenario.schema.json
var schema []byte

// Schema returns the JSON Schema of scenario files.
func Schema() []byte { return bytes.Clone(schema) }

// File is a scenario with the text that it was read from.
type File struct {
	Path     string
	Source   []byte
	Scenario Scenario
}

// What a scenario file may leave out.
const (
	usualIntents     = 10
	usualConcurrency = 4
	usualShare       = 0.5
	usualTimeout     = 10 * time.Second
	usualWithin      = 5 * time.Second
	usualSweep       = 1.2 // of the time that a plain create takes
	usualCut         = faults.Duration(50 * time.Millisecond)
)

// Load reads a scenario file and fills in what it leaves out. The error is document.Mistakes: all of
// them, with their places.
func Load(file string, data []byte) (Scenario, error) {
	_, s, err := load(file, data)
	if err != nil {
		return Scenario{}, err
	}
	return s, nil
}

// LoadFS reads every *.yaml file of a folder, in the order of their names. The error is
// document.Mistakes where files have mistakes: those of all files.
func LoadFS(fsys fs.FS, dir string) ([]File, error) {
	paths, err := fs.Glob(fsys, path.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list the scenarios in %s: %w", dir, err)
	}
	slices.Sort(paths)
	var files []File
	var mistakes document.Mistakes
	takenBy := map[string]string{}
	for _, file := range paths {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("read a scenario: %w", err)
		}
		doc, s, err := load(file, data)
		if err != nil && !collect(&mistakes, err) {
			return nil, err
		}
		if first, taken := takenBy[s.Name]; taken && doc != nil && s.Name != "" {
			mistakes = append(mistakes, doc.Mistake("/name", "the name %q is taken by %s", s.Name, first))
		}
		takenBy[s.Name] = file
		files = append(files, File{Path: file, Source: data, Scenario: s})
	}
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	return files, nil
}

// collect adds the mistakes that an error holds, and reports whether it holds any.
func collect(mistakes *document.Mistakes, err error) bool {
	var found document.Mistakes
	if !errors.As(err, &found) {
		return false
	}
	*mistakes = append(*mistakes, found...)
	return true
}

func load(file string, data []byte) (*document.Document, Scenario, error) {
	var s Scenario
	doc, err := document.Parse(data, document.Options{File: file, Schema: schema})
	if doc == nil {
		return nil, s, err
	}
	var mistakes document.Mistakes
	collect(&mistakes, err)
	// What could be read is validated even if something could not. Where the schema has found a mistake
	// already, the decoder adds nothing.
	if unfit := doc.Decode(&s); unfit != nil && err == nil {
		return doc, s, unfit
	}
	s.complete()
	mistakes = append(mistakes, validate(doc, s)...)
	return doc, s, mistakes.Err()
}

// LinksInUse returns the names of the links inside the target that the scenario slows down or cuts, sorted.
func (s Scenario) LinksInUse() []string {
	names := slices.Collect(maps.Keys(s.Links))
	for _, step := range s.Steps {
		for _, cut := range step.cuts() {
			names = append(names, cut.Link)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TouchesStore reports whether the scenario has faults of the target's store: of the link to it, or in it.
func (s Scenario) TouchesStore() bool {
	return slices.Contains(s.LinksInUse(), TheStore) || slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Flush != "" })
}

// complete fills in what the file leaves out.
func (s *Scenario) complete() {
	if s.Intents == 0 {
		s.Intents = usualIntents
	}
	if s.Concurrency == 0 {
		s.Concurrency = usualConcurrency
	}
	for i := range s.Steps {
		s.Steps[i].complete()
	}
	if s.Background != nil {
		s.Background.complete()
	}
	for i := range s.Exercised {
		if s.Exercised[i].AtLeast == 0 {
			s.Exercised[i].AtLeast = usualShare
		}
	}
	for _, need := range s.implied() {
		if !slices.Contains(s.Needs, need) {
			s.Needs = append(s.Needs, need)
		}
	}
}

// implied lists the needs that follow from what a scenario does.
func (s *Scenario) implied() []Need {
	var needs []Need
	switch s.Answer {
	case LargeAnswer:
		needs = append(needs, NeedsLargeAnswer)
	case HugeAnswer:
		needs = append(needs, NeedsHugeAnswer)
	case EmptyAnswer:
		needs = append(needs, NeedsEmptyAnswer)
	}
	if s.altersBodies() {
		needs = append(needs, NeedsAlter)
	}
	if s.takesOtherWay() {
		needs = append(needs, NeedsWays)
	}
	if s.sendsInvalid() {
		needs = append(needs, NeedsInvalid)
	}
	if s.shape()[proofs.NoKeyless] || s.Background != nil && s.Background.Send.Key == NoKey {
		needs = append(needs, NeedsLooseKey)
	}
	for _, step := range s.Steps {
		if step.Respell != nil {
			needs = append(needs, step.Respell.Spelling.needs()...)
		}
		if step.Burst != nil && step.Burst.WriteGate {
			needs = append(needs, NeedsWriteGate)
		}
		if step.Crash != nil {
			needs = append(needs, NeedsProcess)
			needs = append(needs, step.Crash.At.needs()...)
		}
		if len(step.cuts()) > 0 {
			needs = append(needs, NeedsLink)
		}
		if step.Flush != "" {
			needs = append(needs, NeedsFlush)
		}
		if step.Remove != nil {
			needs = append(needs, NeedsRemove)
		}
		if step.Wait != nil && step.Wait.For == WaitExpired {
			needs = append(needs, NeedsExpiry)
		}
		if step.Wait != nil && step.Wait.For == WaitRemembered {
			needs = append(needs, NeedsMemory)
		}
	}
	if len(s.Links) > 0 {
		needs = append(needs, NeedsLink)
	}
	if len(s.Work) > 0 {
		needs = append(needs, NeedsWork)
	}
	if s.Sinks != nil {
		needs = append(needs, NeedsSink)
	}
	if slices.ContainsFunc(s.Exercised, func(p Proof) bool { return p.Name == proofs.Instances }) {
		needs = append(needs, NeedsInstances)
	}
	if n := s.Neighbours; n != nil {
		needs = append(append(needs, n.Keys.needs()...), n.Across.needs()...)
	}
	return needs
}

// needs lists what the target's effects must be like.
func (at CrashAt) needs() []Need {
	switch at {
	case BeforeEffect:
		return []Need{NeedsHeldEffect}
	case AfterEffect:
		return []Need{NeedsEffect}
	default:
		return nil
	}
}

// needs lists what can be spelled so.
func (s Spelling) needs() []Need {
	switch s {
	case SpellingElsewhere:
		return nil
	case SpellingHeaderCase:
		return []Need{NeedsHeaderKey}
	case SpellingTwoHeaders:
		// Where no key is required, both may be ignored (RFC 9651, section 4.2): no key, and each request is an intent.
		return []Need{NeedsHeaderKey, NeedsRequiredKey, NeedsChosenKey}
	case SpellingNumbers:
		return []Need{NeedsSameJSON, NeedsNumbers}
	default:
		return []Need{NeedsSameJSON}
	}
}

// needs lists what the target's keys must be like.
func (l Likeness) needs() []Need {
	switch l {
	case KeysUnlike:
		return nil
	case KeysCase:
		return []Need{NeedsFreeKey, NeedsCasedKey}
	case KeysSpace:
		return []Need{NeedsFreeKey, NeedsSpacedKey}
	case KeysQuote, KeysLong:
		return []Need{NeedsFreeKey}
	case KeysBlank:
		return []Need{NeedsKey, NeedsChosenKey, NeedsLooseKey}
	default:
		return []Need{NeedsKey, NeedsChosenKey}
	}
}

func (a Across) needs() []Need {
	switch a {
	case AcrossPrincipals:
		return []Need{NeedsPrincipals}
	case AcrossOperations:
		return []Need{NeedsOperations}
	case AcrossParents:
		return []Need{NeedsParents}
	default:
		return nil
	}
}
