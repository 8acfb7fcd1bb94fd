package diagnosis

import (
	"slices"
	"sync"
)

// Group is scenarios of the library that ask for the same thing in several ways. Designs with one defect fail in the same
// groups, though not in the same scenarios.
type Group string

// The groups.
const (
	Plain      Group = "plain"      // one request
	Sequential Group = "sequential" // one after the other
	Together   Group = "together"   // at the same time
	Early      Group = "early"      // a retry while the first request is still inside
	Left       Group = "left"       // the client leaves while the target works
	Lost       Group = "lost"       // the answer or the request is lost
	Long       Group = "long"       // work that takes long
	Late       Group = "late"       // a retry after some time
	Crash      Group = "crash"      // the process is killed
	Instances  Group = "instances"  // several processes
	Store      Group = "store"      // the store is slow, away or empty
	Database   Group = "database"   // the same of the database
	Dependency Group = "dependency" // the same of another service
	Altered    Group = "altered"    // another body under the same key, after the answer
	Refusal    Group = "refusal"    // a body that is refused, then corrected
	Spelled    Group = "spelled"    // the same request in other words
	Naming     Group = "naming"     // the same thing, named in another spelling
	KeyForm    Group = "key-form"   // keys that nearly equal each other
	KeyHeader  Group = "key-header" // ways to write the key's header
	Ways       Group = "ways"       // one creation in two ways
	MissingKey Group = "missing"    // no key
	Scope      Group = "scope"      // the same key elsewhere, or from somebody else
	Twins      Group = "twins"      // requests that are alike
	Again      Group = "again"      // made again after it was removed
	Answers    Group = "answers"    // large and empty answers
)

// Members returns the scenarios of each group; it is shared, and not to be changed.
var Members = sync.OnceValue(func() map[Group][]string {
	return map[Group][]string{
		Plain:      {"plain-create"},
		Sequential: {"sequential-replay", "fresh-key-retry", "no-key"},
		Together:   {"burst-same-key", "burst-under-load", "burst-write-gate", "rage-clicks", "tabs-one-key", "tabs-natural-key", "enter-plus-click", "sweep", "altered-race"},
		Early:      {"cut-reset-early-retry", "cut-truncated-early-retry", "withheld-answer-early-retry"},
		Left:       {"double-click", "impatient-retry", "slow-road"},
		Lost:       {"hang-up", "withheld-answer", "cut-reset", "cut-truncated", "lost-request"},
		Long:       {"long-work"},
		Late:       {"late-retry", "key-expired"},
		Crash:      {"crash-between", "crash-sweep", "crash-before-effect", "crash-after-effect"},
		Instances:  {"other-instance"},
		Store:      {"store-away", "store-cut", "store-flushed", "store-slow"},
		Database:   {"database-blink", "database-cut", "slow-database", "slow-database-impatient"},
		Dependency: {"dependency-cut", "effect-answer-lost", "effect-answer-lost-burst", "effect-error", "effect-late"},
		Altered:    {"altered-after"},
		Refusal:    {"corrected-after-refusal"},
		Spelled:    {"respelled-body", "respelled-numbers", "retry-elsewhere"},
		Naming:     {"natural-key-spelling"},
		KeyForm:    {"key-case", "key-space", "key-long", "key-blank", "key-quote"},
		KeyHeader:  {"key-header-case", "key-two-headers"},
		Ways:       {"same-key-two-ways", "same-key-two-ways-at-once"},
		MissingKey: {"missing-key"},
		Scope:      {"no-credential", "same-form-two-parents", "same-form-two-principals", "same-key-two-operations", "same-key-two-parents", "same-key-two-principals"},
		Twins:      {"distinct-twins", "read-after-create"},
		Again:      {"made-again"},
		Answers:    {"large-answer", "huge-answer", "empty-answer"},
	}
})

// groupOf returns the group of a scenario; empty: it belongs to none. So a scenario of the user's
// own says nothing of the groups, of which no design was measured by it.
func groupOf(scenario string) Group {
	for group, names := range Members() {
		if slices.Contains(names, scenario) {
			return group
		}
	}
	return ""
}
