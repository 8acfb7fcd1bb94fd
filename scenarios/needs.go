package scenarios

// Need is something that the target's contract must have for a scenario to make sense. The zero value is none.
type Need string

// The needs. Each has a row in [NeedTable]; the engine says which of them a target does not meet.
const (
	NeedsRepeatable  Need = "repeatable"
	NeedsKey         Need = "key"
	NeedsRequiredKey Need = "required-key"
	NeedsOptionalKey Need = "optional-key"
	NeedsChosenKey   Need = "chosen-key"
	NeedsFreeKey     Need = "free-key"
	NeedsCasedKey    Need = "cased-key"
	NeedsHeaderKey   Need = "header-key"
	NeedsSpacedKey   Need = "spaced-key"
	NeedsLooseKey    Need = "loose-key"
	NeedsMarkerRows  Need = "rows-by-marker"
	NeedsNoNatural   Need = "no-natural-key"
	NeedsNaturalKey  Need = "natural-key"
	NeedsNaming      Need = "natural-key-spelling"
	NeedsAlter       Need = "alter"
	NeedsInvalid     Need = "invalid"
	NeedsSameJSON    Need = "same-json"
	NeedsNumbers     Need = "numbers"
	NeedsExpiry      Need = "expiry"
	NeedsMemory      Need = "memory"
	NeedsPrincipals  Need = "principals"
	NeedsCredential  Need = "credential"
	NeedsOperations  Need = "operations"
	NeedsParents     Need = "parents"
	NeedsWays        Need = "ways"
	NeedsLargeAnswer Need = "large-answer"
	NeedsHugeAnswer  Need = "huge-answer"
	NeedsEmptyAnswer Need = "empty-answer"
	NeedsWriteGate   Need = "write-gate"
	NeedsProcess     Need = "process"
	NeedsLink        Need = "link"
	NeedsFlush       Need = "flush"
	NeedsRemove      Need = "remove"
	NeedsInstances   Need = "instances"
	NeedsWork        Need = "work"
	NeedsSink        Need = "sink"
	NeedsEffect      Need = "effect"
	NeedsHeldEffect  Need = "held-effect"
)

// NeedRow is one row of the table of needs.
type NeedRow struct {
	Need    Need
	MetBy   string // what a target file meets it with, in Markdown
	Implied bool   // it follows from what a scenario does: a shorter scenario may not have it any more
}

// NeedTable returns all needs, in the order of the docs. The JSON Schema of scenarios and the table of the docs are
// made of it (make docs).
func NeedTable() []NeedRow {
	return []NeedRow{
		{Need: NeedsRepeatable, MetBy: "a `key`, or `contract.natural_key`: repeated requests are one intent"},
		{Need: NeedsKey, MetBy: "a `key`"},
		{Need: NeedsRequiredKey, MetBy: "`key.required: true`"},
		{Need: NeedsOptionalKey, MetBy: "a `key` that may be left out"},
		{Need: NeedsChosenKey, MetBy: "a `key` that the client chooses: no `key.issued`"},
		{Need: NeedsFreeKey, MetBy: "a `key` that may be any text: none of `key.issued`, `key.format` and `key.like`"},
		{Need: NeedsCasedKey, MetBy: "a `key` whose letters have a case: no `key.fold_case`"},
		{Need: NeedsHeaderKey, MetBy: "a `key` in a header, and no `protocol: http2`, which knows lower-case names only", Implied: true},
		{Need: NeedsSpacedKey, MetBy: "a `key` that keeps a space at its end: in body, query or path, or `quoted`"},
		{Need: NeedsLooseKey, MetBy: "a `key` that can be left out or blank: not in the path", Implied: true},
		{Need: NeedsMarkerRows, MetBy: "`rows` that are asked for by the marker or the reference, and not with `:key`", Implied: true},
		{Need: NeedsNoNatural, MetBy: "neither that nor `contract.content_window`, and the marker in the request: equal bodies with different keys are different intents"},
		{Need: NeedsNaturalKey, MetBy: "`contract.natural_key`"},
		{Need: NeedsNaming, MetBy: "`contract.natural_key_ignores`, and a JSON body whose natural key has a letter; the row query finds it in either spelling", Implied: true},
		{Need: NeedsAlter, MetBy: "`alter`", Implied: true},
		{Need: NeedsInvalid, MetBy: "`invalid`, with the same natural key, if there is one", Implied: true},
		{Need: NeedsSameJSON, MetBy: "a JSON body, and `contract.fingerprint.mode: json` or `fields`", Implied: true},
		{Need: NeedsNumbers, MetBy: "a whole number in the body", Implied: true},
		{Need: NeedsExpiry, MetBy: "a `key`, and `contract.expiry.after` of a minute at most", Implied: true},
		{Need: NeedsMemory, MetBy: "no `contract.expiry.after` of less than a second", Implied: true},
		{Need: NeedsPrincipals, MetBy: "two `principals`, and no `scope.principal: shared`", Implied: true},
		{Need: NeedsCredential, MetBy: "`request.credential`: headers without which a request is refused", Implied: true},
		{Need: NeedsOperations, MetBy: "two operations with a `key`", Implied: true},
		{Need: NeedsParents, MetBy: "a path with something of `prepare`, `/orders/{{.Prepared.ID}}/payments`, or of `parents`, `/orders/{{.Parent.Order}}/payments`", Implied: true},
		{Need: NeedsWays, MetBy: "another operation with `same_as`, or `same_as` of the run's: two ways to make the same", Implied: true},
		{Need: NeedsLargeAnswer, MetBy: "`answers.large`", Implied: true},
		{Need: NeedsHugeAnswer, MetBy: "`answers.huge`", Implied: true},
		{Need: NeedsEmptyAnswer, MetBy: "`answers.empty`", Implied: true},
		{Need: NeedsWriteGate, MetBy: "`database.write_gate`", Implied: true},
		{Need: NeedsProcess, MetBy: "`process`, and no `key.issued`", Implied: true},
		{Need: NeedsLink, MetBy: "the [link](#links) that the scenario names", Implied: true},
		{Need: NeedsFlush, MetBy: "`store.flush`", Implied: true},
		{Need: NeedsRemove, MetBy: "`remove`, and neither `effects` nor `ack.accepted`", Implied: true},
		{Need: NeedsWork, MetBy: "`work`, or the [link](#links) `database`; no `ack.accepted`, and no `expiry.after` below 30 s", Implied: true},
		{Need: NeedsSink, MetBy: "an [effect](effects.md) that is counted at a sink which answers: `http` or `smtp`", Implied: true},
		{Need: NeedsEffect, MetBy: "an [effect](effects.md) that is counted at a sink, other than spans", Implied: true},
		{Need: NeedsHeldEffect, MetBy: "an [effect](effects.md) that can be kept from its sink: `http` or `smtp`, or `redis` or `rabbitmq` behind a [link](#links)", Implied: true},
		{Need: NeedsInstances, MetBy: "`process.instances` of 2 or more, or `instances`"},
	}
}

// implied reports that a need follows from what a scenario does.
func (n Need) implied() bool {
	for _, row := range NeedTable() {
		if row.Need == n {
			return row.Implied
		}
	}
	return false
}
