package diagnosis

import (
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
)

// Defect is a family of mistakes that look alike from outside, and that are mended alike.
type Defect struct {
	Name string   // such as "check-then-act"
	Does string   // what the code probably does, in sentences
	Mend string   // what to do about it, in sentences
	Play []string // scenarios of the library that show it best
	Look string   // where it is found in the code, as the object of "look for"
	How  string   // the name of the page with code; empty: there is none

	Designs []string // built-in broken designs that have it
	Signs   []Sign   // what it may show, besides what they showed
}

// Sign is one way in which a defect shows.
type Sign struct {
	Kind   checker.Kind
	Detail string                 // empty: any
	Needs  []checker.Circumstance // that it is seen under
	Fails  []Group                // of scenarios
	Passes []Group
	Alone  bool // the one group of Fails fails and no other
}

// features takes a sign apart. What it does not say has no feature.
func (s Sign) features() features {
	f := features{"kind": string(s.Kind)}
	if s.Detail != "" {
		f["detail"] = s.Detail
	}
	for _, c := range s.Needs {
		f[circumstanceFeature(c)] = yes
	}
	for _, g := range s.Fails {
		f[groupFeature(g)] = yes
	}
	for _, g := range s.Passes {
		f[groupFeature(g)] = no
	}
	if s.Alone {
		f[aloneFeature] = string(s.Fails[0])
	}
	return f
}

// Defects returns the table of defects, the commonest first. Each broken built-in design belongs to one of them.
func Defects() []Defect {
	return []Defect{
		{
			Name: "check-then-act",
			Does: "The code looks whether the key or the row is there, finds nothing, and writes. No constraint of the database stops the second. Two requests at the same time both find nothing, and both write. A lock that does not cover the look and the commit comes to the same.",
			Mend: "Let a unique index decide: write the key first, in the transaction of the row. Who hits the index reads what the other one recorded.",
			Play: []string{"burst-same-key", "burst-write-gate", "tabs-natural-key"},
			Look: "a unique index on the key or on the natural key, in the table that the code writes",
			How:  "claim",
			Designs: []string{
				"check-then-insert", "no-in-progress-record", "select-before-insert", "select-before-insert-one-field", "if-match-read-first",
				"unique-missing", "insert-where-not-exists", "orm-upsert-emulated", "repeatable-read-skew",
				"redis-key-check-then-act", "form-token-not-atomic", "lock-without-recheck", "snapshot-before-lock",
				"lock-released-before-commit", "lock-misses-a-stripe", "lock-released-by-non-owner",
				"redis-lock-released-by-non-owner",
			},
			Signs: []Sign{
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.Overlapping}, Fails: []Group{Together, Early}, Passes: []Group{Sequential}},
				{Kind: checker.Duplicate, Detail: "altered-body-accepted", Needs: []checker.Circumstance{checker.Overlapping, checker.OtherBody}, Fails: []Group{Together}, Passes: []Group{Sequential, Altered}},
				{Kind: checker.Duplicate, Detail: "altered-body-accepted", Needs: []checker.Circumstance{checker.Overlapping, checker.OtherBody}, Fails: []Group{Together}, Passes: []Group{Sequential, Altered}, Alone: true},
				{Kind: checker.RefusedThoughDone, Needs: []checker.Circumstance{checker.Overlapping, checker.OtherBody}, Fails: []Group{Together}, Passes: []Group{Sequential, Altered, Plain}},
				{Kind: checker.PhantomRow, Needs: []checker.Circumstance{checker.Overlapping, checker.OtherBody}, Fails: []Group{Together}, Passes: []Group{Sequential, Altered, Plain}},
			},
		},
		{
			Name: "lock-ends-early",
			Does: "A lock or a claim on the key ends after a fixed time, or a waiting request gives up and goes on by itself, while the first request still works. Then both execute.",
			Mend: "Renew the claim while the work goes on, and let the last write succeed only for the one who still holds it. A request that waits in vain answers 409. A unique index has the last word.",
			Play: []string{"long-work", "late-retry"},
			Look: "the time-out of the lock, the claim or the wait, and how long the work may take",
			How:  "lease",
			Designs: []string{
				"in-progress-lease-too-short", "waiter-executes-after-timeout", "patient-waiter-executes",
				"lease-not-renewed", "reaper-frees-running", "lock-expires-before-work", "redis-lock-expires-before-work",
			},
			Signs: []Sign{
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.Overlapping}, Fails: []Group{Long}, Passes: []Group{Sequential}},
			},
		},
		{
			Name: "repeat-not-recognised",
			Does: "A repetition that comes after the answer is executed again: the code does not find what the first request left. It looks too late, it does not look on this path, or it looks in another place or under another name than it writes, or its unique index does not hold because a column of it is NULL.",
			Mend: "Look the key up where it is written, on every path that creates. Make the unique index over columns that are never NULL.",
			Play: []string{"sequential-replay"},
			Look: "the record of a key after its first request: it is missing, or stands under another name",
			How:  "claim",
			Designs: []string{
				"probe-and-store-keys-differ", "unique-with-deleted-at-null", "unique-null-distinct",
				"key-ignored-on-variant", "form-token-logic-inverted", "replica-lag-check", "adds-again",
			},
			Signs: []Sign{
				{Kind: checker.Duplicate, Fails: []Group{Sequential, Together}, Passes: []Group{Plain}},
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.OtherOperation}},
			},
		},
		{
			Name: "record-apart",
			Does: "The row and the record of its key are written in two transactions, or the record is given back after an error. When a client leaves, a call fails or the process ends in between, the row is there and the key is free. The retry makes another row.",
			Mend: "Write the row, its parts and the record of the key in one transaction, and do not tie it to the client's connection. Give a key back only when nothing was committed.",
			Play: []string{"hang-up", "withheld-answer", "crash-between"},
			Look: "a second commit, and a record that is written in a deferred or cancelled call",
			How:  "claim",
			Designs: []string{
				"record-after-commit", "record-save-cancelled-by-disconnect", "fails-after-order",
				"key-released-on-ambiguous-error", "dependency-error-frees-key", "hang-up-taken-for-crash",
				"decline-retried-charges", "record-behind-answer", "partial-commit", "refusal-leaves-row",
			},
			Signs: []Sign{
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.LostAnswer}, Fails: []Group{Left}},
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.Overlapping}, Fails: []Group{Left, Crash, Together}},
				{Kind: checker.PhantomRow},
				{Kind: checker.EffectMismatch, Needs: []checker.Circumstance{checker.LostAnswer}, Passes: []Group{Sequential}},
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.LinkCut}, Fails: []Group{Dependency}, Passes: []Group{Together, Database, Store}},
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.Crashed}, Fails: []Group{Crash}},
				{Kind: checker.EffectMismatch, Needs: []checker.Circumstance{checker.LinkCut}, Fails: []Group{Database}, Passes: []Group{Sequential}},
			},
		},
		{
			Name: "acknowledged-early",
			Does: "The client is told of a success, or the success is recorded, before the row is committed or its work is stored durably. If that fails afterwards, the retry is told of a row that does not exist.",
			Mend: "Commit first, then answer. Record the answer in the same transaction as the row. Work that is done later goes into a table in that transaction, and leaves it when it is done.",
			Play: []string{"crash-between", "database-cut", "store-cut"},
			Look: "what is committed after the answer was written or recorded",
			How:  "claim",
			Designs: []string{
				"ack-before-commit", "ack-before-durable-enqueue", "response-recorded-before-commit",
				"redis-recorded-before-commit", "dedup-in-other-transaction", "queue-forgets-job", "listing-loses-event",
				"lock-fail-success",
			},
			Signs: []Sign{
				{Kind: checker.LostWrite, Needs: []checker.Circumstance{checker.Overlapping}},
				{Kind: checker.LostWrite, Needs: []checker.Circumstance{checker.Crashed}},
				{Kind: checker.LostWrite, Needs: []checker.Circumstance{checker.LinkCut}},
				{Kind: checker.LostWrite, Needs: []checker.Circumstance{checker.LostAnswer}},
			},
		},
		{
			Name:    "forgets-too-early",
			Does:    "The record of the key is removed, or no longer looked at, before the promised time is over. A later retry is a new request.",
			Mend:    "Keep the record as long as clients retry, and longer than any job or lock beside it. Delete by the time of the record, not with the job.",
			Play:    []string{"late-retry", "key-expired"},
			Look:    "what deletes records, and from when on they are no longer looked at",
			How:     "retention",
			Designs: []string{"expiry-too-short", "expiry-ends-early", "dedup-window-too-short", "job-removed-when-done"},
			Signs: []Sign{
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.Expired}, Fails: []Group{Late}},
				{Kind: checker.Duplicate, Fails: []Group{Late}, Passes: []Group{Sequential}},
				{Kind: checker.Duplicate, Fails: []Group{Late}, Passes: []Group{Sequential, Together, Lost}, Alone: true},
			},
		},
		{
			Name:    "keys-elsewhere",
			Does:    "The keys live beside the database: in a cache, or in the memory of one process. Where that is empty, away, or another instance's, the request is executed again.",
			Mend:    "Keep the key in the database of the row, behind a unique index. A cache may answer faster; it must not decide. Without the store, answer 503 and execute nothing.",
			Play:    []string{"other-instance", "store-flushed", "store-away"},
			Look:    "where the key is kept, and what happens when that place is empty or away",
			How:     "claim",
			Designs: []string{"store-forgets", "store-fails-open", "store-process-local"},
			Signs: []Sign{
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.OtherInstance}, Fails: []Group{Instances, Sequential, Together}},
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.StoreFlushed}, Fails: []Group{Store}},
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.LinkCut}, Fails: []Group{Store}, Passes: []Group{Database}},
			},
		},
		{
			Name:    "hidden-retry",
			Does:    "Something behind the API repeats the insert by itself, when its connection broke or its job was given out twice. The first one may have been committed: its answer was lost.",
			Mend:    "Repeat nothing by itself after an unknown commit, unless a unique index refuses the second row. Give the insert an identity that the request determines.",
			Play:    []string{"database-blink", "database-cut", "burst-same-key"},
			Look:    "retries in the driver, the ORM or the queue: one request reached the target, and two rows are there",
			How:     "claim",
			Designs: []string{"internal-retry-after-unknown-commit", "insert-repeated-by-driver", "queue-repeats-job"},
			Signs: []Sign{
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.LinkCut}, Fails: []Group{Database}, Passes: []Group{Together}},
				{Kind: checker.Duplicate, Passes: []Group{Plain}},
			},
		},
		{
			Name: "scope-too-wide",
			Does: "The record is found by the key alone: without the customer, the operation, or the path that the request belongs to. Somebody else's key, or the same key elsewhere, meets a foreign record.",
			Mend: "Make the customer, the operation and the parent part of the record and of its unique index. Look who asks before anything is replayed.",
			Play: []string{"same-key-two-principals", "same-key-two-operations", "same-key-two-parents", "no-credential"},
			Look: "the columns of the unique index on the key: the one that is missing is named by the scenario that fails",
			How:  "scope",
			Designs: []string{
				"scope-no-tenant", "scope-no-endpoint", "scope-no-parent", "scope-anonymous-shared",
				"replay-before-authorisation", "unique-wrong-column", "fingerprint-no-parent",
			},
			Signs: []Sign{
				{Kind: checker.Leak, Needs: []checker.Circumstance{checker.OtherPrincipal}, Fails: []Group{Scope}},
				{Kind: checker.Leak, Needs: []checker.Circumstance{checker.NoCredential}, Fails: []Group{Scope}},
				{Kind: checker.FalseConflict, Needs: []checker.Circumstance{checker.OtherPrincipal}, Fails: []Group{Scope}},
				{Kind: checker.LostWrite, Needs: []checker.Circumstance{checker.OtherIntent}, Fails: []Group{Scope}},
				{Kind: checker.AlteredBody, Detail: "scope", Needs: []checker.Circumstance{checker.OtherIntent}},
			},
		},
		{
			Name: "body-not-compared",
			Does: "The code finds the key and does not compare what comes with it, or compares only a part. Another body gets the first answer, overwrites the row, or makes one of its own.",
			Mend: "Store a fingerprint of all that matters in the request, and answer 422 when a key comes with another one.",
			Play: []string{"altered-after", "altered-race"},
			Look: "which members of the body go into the comparison",
			How:  "fingerprint",
			Designs: []string{
				"no-fingerprint", "mismatch-overwrites", "fingerprint-partial", "mismatch-creates-row",
				"refusal-corrected-executes", "replay-echoes-request",
			},
			Signs: []Sign{
				{Kind: checker.AlteredBody, Needs: []checker.Circumstance{checker.OtherBody}, Fails: []Group{Altered}},
				{Kind: checker.Duplicate, Detail: "altered-body-accepted", Needs: []checker.Circumstance{checker.OtherBody}, Fails: []Group{Altered}},
				{Kind: checker.ReplayMismatch, Detail: "replay-echoes-request", Needs: []checker.Circumstance{checker.OtherBody}},
			},
		},
		{
			Name:    "comparison-too-strict",
			Does:    "The code compares what an honest retry changes: the spelling of the JSON, headers of the client or of proxies, the time of sending. The retry is refused as another request.",
			Mend:    "Compare values, not bytes: parse, take the members that matter, and hash them in a fixed order. Leave out headers and times.",
			Play:    []string{"respelled-body", "respelled-numbers", "retry-elsewhere"},
			Look:    "what goes into the comparison: bytes, headers or times do not belong there",
			How:     "fingerprint",
			Designs: []string{"fingerprint-key-order", "key-member-in-fingerprint", "fingerprint-number-format", "fingerprint-headers", "fingerprint-sent-at"},
			Signs: []Sign{
				{Kind: checker.FalseConflict, Needs: []checker.Circumstance{checker.OtherSpelling}, Fails: []Group{Spelled}},
				{Kind: checker.FalseConflict, Detail: "respelled", Needs: []checker.Circumstance{checker.OtherSpelling}},
				{Kind: checker.RefusedThoughDone, Passes: []Group{Crash}},
			},
		},
		{
			Name: "key-folded",
			Does: "Different keys are one to the code or to the column: it ignores case, trims or pads spaces, cuts long keys, or takes a blank key for a key. The second client is refused, or shown the first one's row.",
			Mend: "Compare keys byte by byte, in a column with a binary collation that is long enough. Refuse what is blank or too long with 400.",
			Play: []string{"key-case", "key-space", "key-long", "key-blank"},
			Look: "the collation, the length and the padding of the key's column, and calls that trim or change case",
			How:  "exact-keys",
			Designs: []string{
				"key-blank-accepted", "delivery-id-blank-shared", "key-truncated", "key-case-folded", "key-space-folded", "key-collation-case",
				"key-collation-pads",
			},
			Signs: []Sign{
				{Kind: checker.FalseConflict, Needs: []checker.Circumstance{checker.OtherIntent}, Fails: []Group{KeyForm}},
				{Kind: checker.LostWrite, Needs: []checker.Circumstance{checker.OtherIntent}, Fails: []Group{KeyForm}},
				{Kind: checker.StuckKey, Needs: []checker.Circumstance{checker.OtherIntent}, Fails: []Group{KeyForm}}, // refused in words that the contract does not know
				{Kind: checker.FalseConflict, Needs: []checker.Circumstance{checker.NoKey}},
			},
		},
		{
			Name:    "natural-key-as-sent",
			Does:    "The natural key is stored and looked up as it was sent. In capitals, or with a blank at its end, it is another value to the unique index or to the look, and the same thing is made twice.",
			Mend:    "Bring the natural key into one form before it is stored and before it is looked up, such as lower case without blanks at its ends. Make the unique index over that form: over lower(trim(email)), or in a column whose collation ignores case.",
			Play:    []string{"natural-key-spelling"},
			Look:    "the place where the natural key is read from the request: it is neither trimmed nor brought into one case",
			Designs: []string{"natural-key-indexed-as-sent"},
			Signs: []Sign{
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.OtherSpelling}, Fails: []Group{Naming}, Passes: []Group{Plain, Sequential, Together}, Alone: true},
			},
		},
		{
			Name:    "key-misread",
			Does:    "One key is read as two: by the case of its header, by which of two headers counts, by the place or the path that it comes by, or together with something that changes between retries. The retry is a new request.",
			Mend:    "Read the key by the library's own header access, which ignores case. Refuse two different keys with 400. Add nothing to the key that a retry may change.",
			Play:    []string{"key-header-case", "key-two-headers", "same-key-two-ways", "retry-elsewhere"},
			Look:    "how the key is read from the headers, and what is added to it",
			Designs: []string{"key-header-exact-case", "key-first-and-last", "key-with-address", "key-by-place", "older-path-own-keys"},
			Signs: []Sign{
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.OtherSpelling}, Fails: []Group{KeyHeader}},
				{Kind: checker.Duplicate, Fails: []Group{Ways}, Passes: []Group{Sequential}},
				{Kind: checker.Duplicate, Needs: []checker.Circumstance{checker.OtherSpelling}, Fails: []Group{Spelled}},
			},
		},
		{
			Name:    "key-optional",
			Does:    "The key is documented as required, and a request without one is executed. A client that forgot it is never told.",
			Mend:    "Answer 400 when the key is missing or blank, before anything is done.",
			Play:    []string{"missing-key"},
			Look:    "the check of the header, before anything is done",
			Designs: []string{"missing-key-accepted"},
			Signs: []Sign{
				{Kind: checker.MissingKeyAccepted, Needs: []checker.Circumstance{checker.NoKey}, Fails: []Group{MissingKey}},
			},
		},
		{
			Name: "answer-built-anew",
			Does: "A repetition is recognised, and its answer comes from other code than the first one: another status, another body, missing headers, or an error.",
			Mend: "Record status, headers and body with the key, and send them again as they are.",
			Play: []string{"sequential-replay"},
			Look: "what builds the answer of a repetition: it is other code than the first answer's",
			How:  "answers",
			Designs: []string{
				"replay-fresh-answer", "replay-status-changed", "duplicate-told-nothing", "replay-headers-lost",
				"replay-body-wrapped", "on-conflict-returns-nothing", "copy-told-not-found", "upsert-replaces-row", "replay-path-crashes", "large-answer-tail-changes", "large-answer-text-cut",
			},
			Signs: []Sign{
				{Kind: checker.ReplayMismatch, Fails: []Group{Sequential}},
				{Kind: checker.UndeclaredAnswer, Fails: []Group{Sequential}},
				{Kind: checker.RefusedThoughDone, Fails: []Group{Sequential}},
				{Kind: checker.ReplayMismatch, Needs: []checker.Circumstance{checker.Overlapping}, Fails: []Group{Together}, Passes: []Group{Sequential}},
			},
		},
		{
			Name:    "answer-unrecorded",
			Does:    "Answers of some form, such as large or empty ones, are not recorded. Their requests are executed again at each repetition.",
			Mend:    "Record the key whatever the answer looks like. If an answer cannot be kept, build it from the row again.",
			Play:    []string{"large-answer", "huge-answer", "empty-answer"},
			Look:    "the limit and the form of what is recorded",
			How:     "answers",
			Designs: []string{"large-answer-unrecorded", "huge-answer-unrecorded", "empty-answer-unrecorded"},
			Signs: []Sign{
				{Kind: checker.Duplicate, Fails: []Group{Answers}},
			},
		},
		{
			Name: "claim-never-ends",
			Does: "A request that failed or went away leaves its claim, or the word “in progress”, behind. Nothing ends it, or nothing within the time that a client waits: the key gets the same refusal to the end. If its time is meant to be longer, contract.lease says so.",
			Mend: "Give each claim an end, set in the same statement, and let the next request take it over. Store only final answers. Do not give a claim back with the context of a client that has left.",
			Play: []string{"hang-up", "crash-between"},
			Look: "the record of the key after a request that failed: it says that work is in progress, and has no end",
			How:  "lease",
			Designs: []string{
				"in-progress-stuck", "cached-in-progress", "completed-without-response", "redis-set-nx-then-expire",
				"throttle-sticks-to-key",
			},
			Signs: []Sign{
				{Kind: checker.StuckKey, Needs: []checker.Circumstance{checker.LostAnswer}},
				{Kind: checker.StuckKey, Needs: []checker.Circumstance{checker.Crashed}},
				{Kind: checker.RefusedThoughDone, Needs: []checker.Circumstance{checker.LostAnswer}},
			},
		},
		{
			Name:    "failure-recorded",
			Does:    "A failure that passes, or a refusal that the client can correct, is recorded like a final answer. Each retry gets it again.",
			Mend:    "Record what was decided, not what went wrong: no 5xx, and no refusal unless the contract says so. Free the key in the transaction that is rolled back.",
			Play:    []string{"slow-database", "dependency-cut", "corrected-after-refusal"},
			Look:    "what is recorded when the work fails",
			How:     "answers",
			Designs: []string{"cached-transient-5xx", "dependency-error-cached", "refusal-stored"},
			Signs: []Sign{
				{Kind: checker.StoredError},
			},
		},
		{
			Name:    "taken-for-repeat",
			Does:    "The code takes any refusal for the trace of its own first try: a violation of another index, an empty stock, a changed version. A new request is told that it was done, and was not.",
			Mend:    "Tell refusals apart by the name of the constraint. Say “repeated” only when the record of this key was found.",
			Play:    []string{"distinct-twins", "read-after-create"},
			Look:    "what the code catches: any unique violation, or any update that changed no row",
			How:     "constraint",
			Designs: []string{"conflict-swallowed-wrong-constraint", "insufficient-as-duplicate", "optimistic-zero-rows-success"},
			Signs: []Sign{
				{Kind: checker.LostWrite, Needs: []checker.Circumstance{checker.OtherIntent}, Fails: []Group{Twins}},
				{Kind: checker.LostWrite, Fails: []Group{Sequential, Twins}},
			},
		},
		{
			Name:    "equal-content-refused",
			Does:    "Two requests that look alike are one to the code, whatever their keys: the same body again, or the natural key of a row that was deleted. The second is refused.",
			Mend:    "Let the key decide. Take deleted rows out of the unique index.",
			Play:    []string{"fresh-key-retry", "made-again"},
			Look:    "a comparison of bodies without their key, and a unique index that counts deleted rows",
			How:     "scope",
			Designs: []string{"content-dedup-blocks-legit", "unique-blocks-after-soft-delete"},
			Signs: []Sign{
				{Kind: checker.FalseConflict, Needs: []checker.Circumstance{checker.OtherIntent}, Fails: []Group{Twins}},
				{Kind: checker.FalseConflict, Needs: []checker.Circumstance{checker.Removed}, Fails: []Group{Again}},
			},
		},
		{
			Name: "effect-outside",
			Does: "The row is made once, and something beside it happens with each attempt: lines, a counter, a mail. It is done before the key is looked at, or again with the replay.",
			Mend: "Do everything that belongs to the request in the transaction that writes the key, and only when that was new. What leaves the database goes by an outbox.",
			Play: []string{"sequential-replay", "hang-up"},
			Look: "what is done before the key is looked at, and what a replay does again",
			How:  "change",
			Designs: []string{
				"child-rows-duplicated", "counter-increments-per-retry", "wallet-debited-per-request", "patch-increment", "replay-reruns-postprocessing",
				"retry-rereads-version", "charge-before-claim", "charge-on-replay", "charge-refused-body", "charge-lost-after-commit",
				"outbox-without-claim", "outbox-claimed-in-memory", "refund-repeated", "saga-step-without-key", "parcel-per-request", "mail-before-commit", "mail-on-replay",
				"event-before-commit", "event-without-claim", "job-lost-after-commit", "outbox-done-before-sent",
			},
			Signs: []Sign{
				{Kind: checker.EffectMismatch, Fails: []Group{Sequential}},
				{Kind: checker.EffectMismatch, Needs: []checker.Circumstance{checker.Overlapping}, Fails: []Group{Together}},
				{Kind: checker.EffectBeforeCommit},
			},
		},
		{
			Name: "downstream-key",
			Does: "The call to another service carries a key that does not follow from the request: a new one for each attempt, or one that two requests share. The other service acts twice for one request, or not at all for the second.",
			Mend: "Derive the key of the call from what is stored with the request, such as the row's id, and send the same one with each attempt.",
			Play: []string{"effect-answer-lost", "effect-answer-lost-burst", "distinct-twins"},
			Look: "where the key of the call comes from: a random number, the time or the customer is not enough",
			How:  "downstream",
			Designs: []string{
				"charge-key-per-attempt", "charge-key-from-time", "charge-retried-new-key", "charge-key-of-customer",
				"mail-retried-in-loop", "mail-outbox-new-id", "outbox-key-per-send", "charge-by-id-new-key", "event-retried-in-loop",
			},
			Signs: []Sign{
				{Kind: checker.DownstreamKeyChanged},
				{Kind: checker.EffectMismatch, Needs: []checker.Circumstance{checker.OtherIntent}, Fails: []Group{Twins}},
			},
		},
		{
			Name:    "read-modify-write",
			Does:    "The code reads a number, works, and writes what it calculated. Of two requests at the same time one change is lost, or both get the same number.",
			Mend:    "Change the number in one statement, or lock its row before you read it. Let a sequence or a unique index give out numbers.",
			Play:    []string{"distinct-twins"},
			Look:    "a number that is read, calculated with, and written back",
			How:     "change",
			Designs: []string{"counter-read-modify-write", "max-plus-one-number"},
			Signs: []Sign{
				{Kind: checker.EffectMismatch, Fails: []Group{Twins, Together}, Passes: []Group{KeyForm, Crash}},
			},
		},
		{
			Name:    "plain-create-wrong",
			Does:    "A single create already does something else than one row: two, or none. No repetition and no fault is needed.",
			Mend:    "Make one request right first. What else was found may follow from it.",
			Play:    []string{"plain-create"},
			Look:    "the handler of a single request, and whether it is registered once",
			Designs: []string{"plain-create-twice", "create-never-stored"},
			Signs: []Sign{
				{Kind: checker.Duplicate, Fails: []Group{Plain}},
				{Kind: checker.LostWrite, Fails: []Group{Plain}},
				{Kind: checker.PhantomRow, Fails: []Group{Plain}},
			},
		},
		{
			Name:    "stops-answering",
			Does:    "A request in an unusual moment ends the process, breaks a connection pool, or is forgotten while it waits. What comes after it gets no answer, or only errors.",
			Mend:    "Tell every waiting request, also when the first one fails. Test connections of the pool before they are used. Let no request end the process.",
			Play:    []string{"burst-same-key", "database-cut"},
			Look:    "the target's own log, at the first request without an answer",
			Designs: []string{"waiter-never-told", "dies-on-overlap", "pool-never-validated"},
			Signs: []Sign{
				{Kind: checker.TargetDied},
				{Kind: checker.Unanswered},
				{Kind: checker.Unavailable, Needs: []checker.Circumstance{checker.LinkCut}, Fails: []Group{Database}},
			},
		},
	}
}

// Named returns the defect of a name, and whether there is one.
func Named(name string) (Defect, bool) {
	all := Defects()
	i := slices.IndexFunc(all, func(d Defect) bool { return d.Name == name })
	if i < 0 {
		return Defect{}, false
	}
	return all[i], true
}
