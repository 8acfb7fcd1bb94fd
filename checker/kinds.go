package checker

import "slices"

// Kind is the broken promise of a finding. Its text stands in files, registers of known
// bugs and exit messages, and so never changes.
type Kind string

// The kinds of finding. Each has a row in [KindTable].
const (
	Leak                 Kind = "leak"
	Duplicate            Kind = "duplicate"
	Diverged             Kind = "diverged"
	TargetDied           Kind = "target-died"
	LostWrite            Kind = "lost-acknowledged-write"
	PhantomRow           Kind = "phantom-row"
	AlteredBody          Kind = "altered-body-violation"
	EffectMismatch       Kind = "effect-mismatch"
	EffectBeforeCommit   Kind = "effect-before-commit"
	DownstreamKeyChanged Kind = "downstream-key-changed"
	StuckKey             Kind = "stuck-key"
	StoredError          Kind = "stored-error"
	RefusedThoughDone    Kind = "refused-though-done"
	Unavailable          Kind = "unavailable"
	Unanswered           Kind = "unanswered"
	ReplayMismatch       Kind = "replay-mismatch"
	UndeclaredAnswer     Kind = "undeclared-answer"
	FalseConflict        Kind = "false-conflict"
	MissingKeyAccepted   Kind = "missing-key-accepted"
)

// KindRow is one row of the table of kinds: the words that reports, schemas and docs have for a kind.
type KindRow struct {
	Kind    Kind
	Meaning string // what happened, in one clause
	Promise string // what is promised, where a finding says nothing more exact
	Against string // what of a target file it is checked against, in Markdown
	Lasting bool   // more waiting cannot undo it: it stands even if the target died before it could answer for itself

	Unresolved bool // the final retry came to no end: older reports and registers call all of these unavailable
}

// KindTable returns the kinds of finding, worst first.
func KindTable() []KindRow {
	const always = "every contract"
	return []KindRow{
		{Kind: Leak, Meaning: "an answer showed another user's data", Lasting: true,
			Promise: "No principal is shown what only another one sent.",
			Against: always + "; between principals unless `scope.principal: shared`"},
		{Kind: Duplicate, Meaning: "one intent has duplicate rows", Lasting: true,
			Promise: "One intent has at most one effect, however often it is sent.", Against: always},
		{Kind: Diverged, Meaning: "replicas differ for good, or replication brought duplicate rows together",
			Promise: "Replicas come to hold the same rows, and no more of them than one database would.", Against: "`converged`"},
		{Kind: TargetDied, Meaning: "a process of the target ended by itself", Lasting: true,
			Promise: "Whatever clients send, the target goes on.", Against: always + ", where doubletap started the target (`process`)"},
		{Kind: LostWrite, Meaning: "the target acknowledged the request, but its row is missing",
			Promise: "What was acknowledged is there.", Against: always},
		{Kind: PhantomRow, Meaning: "a row exists that no answer explains",
			Promise: "No effect without an attempt that was acknowledged or whose answer is unknown.", Against: always},
		{Kind: AlteredBody, Meaning: "the same key with another body was not rejected", Lasting: true,
			Promise: "A key that comes with another body is rejected.",
			Against: "`fingerprint`, `rows.content`; that it does not overwrite an acknowledged row: " + always},
		{Kind: EffectMismatch, Meaning: "a side effect happened too often, or not at all",
			Promise: "Whatever belongs to an effect is there once for each effect.", Against: "`effects`"},
		{Kind: EffectBeforeCommit, Meaning: "a side effect happened, and its row never came to be",
			Promise: "What a service does elsewhere, it does for something that is there.", Against: "`effects` with `seen`"},
		{Kind: DownstreamKeyChanged, Meaning: "the target asked another service again, with another key", Lasting: true,
			Promise: "All requests to another service for one intent carry one key, by which that service knows them.", Against: "`effects` with `seen`"},
		{Kind: StuckKey, Meaning: "nothing was made, and the key never gets a final answer", Unresolved: true,
			Promise: "A client that retries with backoff gets a final answer.", Against: always},
		{Kind: StoredError, Meaning: "nothing was made, and a failure is replayed for good", Unresolved: true,
			Promise: "A failure that passes is not the final answer.", Against: always + "; `errors.store_4xx`, `errors.store_5xx`, `request.credential`"},
		{Kind: RefusedThoughDone, Meaning: "the row exists, and its client never learns it", Unresolved: true,
			Promise: "The client of what was done can learn that it was.", Against: always},
		{Kind: Unavailable, Meaning: "retries with backoff never got a final answer", Unresolved: true,
			Promise: "A client that retries with backoff gets a final answer.", Against: always},
		{Kind: Unanswered, Meaning: "a request was never answered, on a clean lane",
			Promise: "A request that nothing disturbs is answered.",
			Against: always + "; `in_progress.mode`, and it waits longer than `lease`"},
		{Kind: ReplayMismatch, Meaning: "a repeated request got a different answer", Lasting: true,
			Promise: "A replay gives the first answer again.", Against: "`replay`, `identity`"},
		{Kind: UndeclaredAnswer, Meaning: "a repeated request got an answer that the contract does not name", Lasting: true,
			Promise: "A repetition of an acknowledged request gets an answer that the contract names.",
			Against: "`ack`, and all other lines that name answers, where `replay` is promised"},
		{Kind: FalseConflict, Meaning: "a new request was rejected as a duplicate",
			Promise: "A new intent is not rejected as the repetition of another.",
			Against: always + "; with a key that another client used: `scope`"},
		{Kind: MissingKeyAccepted, Meaning: "a request without the required key was accepted", Lasting: true,
			Promise: "A request without the required idempotency key is rejected.", Against: "`key.required`"},
	}
}

// Kinds lists the kinds of finding, worst first.
func Kinds() []Kind {
	var kinds []Kind
	for _, row := range KindTable() {
		kinds = append(kinds, row.Kind)
	}
	return kinds
}

// Row returns the row of a kind. An unknown kind, of a report of a later doubletap, is a broken promise.
func (k Kind) Row() KindRow {
	table := KindTable()
	if i := k.rank(); i < len(table) {
		return table[i]
	}
	return KindRow{Kind: k, Meaning: "a broken promise"}
}

// Covers reports that a kind, as a register, a declaration or an older report names it, stands for another: every kind
// for itself, and unavailable for all in which the final retry came to no end.
func (k Kind) Covers(other Kind) bool {
	return k == other || k == Unavailable && other.Row().Unresolved
}

// rank is the place of a kind among all, 0 the worst; an unknown one comes last.
func (k Kind) rank() int {
	if i := slices.Index(Kinds(), k); i >= 0 {
		return i
	}
	return len(Kinds())
}
