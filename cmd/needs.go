package cmd

import (
	"time"

	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// longestExpiry is how long a run waits for a key to be forgotten.
const longestExpiry = time.Minute

// lacks says which of a scenario's needs the subject does not meet; empty: none.
func (s *subject) lacks(needs []scenarios.Need) string {
	unmet := s.unmet()
	for _, need := range needs {
		if why := unmet[need]; why != "" {
			return why
		}
	}
	return ""
}

// unmet says for every need why the subject does not meet it, where it does not.
func (s *subject) unmet() map[scenarios.Need]string {
	contract, key := s.target.Contract, s.operation().Key
	why := map[scenarios.Need]string{}
	unless := func(met bool, need scenarios.Need, text string) {
		if !met && why[need] == "" {
			why[need] = text
		}
	}
	const noKey = "the operation takes no idempotency key"
	hasKey, natural := key.In != targets.KeyNowhere, len(contract.NaturalKey) > 0
	unless(hasKey || natural, scenarios.NeedsRepeatable, "the contract has neither an idempotency key nor a natural key, so repeated requests are different wishes")
	for _, need := range []scenarios.Need{scenarios.NeedsKey, scenarios.NeedsOptionalKey, scenarios.NeedsFreeKey, scenarios.NeedsCasedKey, scenarios.NeedsSpacedKey, scenarios.NeedsExpiry, scenarios.NeedsOperations} {
		unless(hasKey, need, noKey)
	}
	unless(key.Required, scenarios.NeedsRequiredKey, "the operation requires no idempotency key")
	unless(!key.Required, scenarios.NeedsOptionalKey, "the operation requires an idempotency key")
	unless(key.Format == targets.AnyText, scenarios.NeedsFreeKey, "only a UUID is a key of this operation (key.format)")
	unless(!key.FoldCase, scenarios.NeedsCasedKey, "keys that differ in case are the same key to this operation (key.fold_case)")
	unless(key.Quoted || key.In == targets.KeyInBody || key.In == targets.KeyInQuery, scenarios.NeedsSpacedKey, "a space at the end of a plain header is cut off on its way")
	unless(natural, scenarios.NeedsNaturalKey, "the contract declares no natural key, so different keys are different wishes")
	unless(!natural, scenarios.NeedsNoNatural, "the contract declares a natural key, so equal bodies are one wish")
	unless(contract.ContentWindow == 0, scenarios.NeedsNoNatural, "the contract takes equal bodies for one wish for a while (content_window)")
	unless(len(s.operation().Alter) > 0, scenarios.NeedsAlter, "the target file does not say what an altered body changes (alter:)")
	sameJSON := contract.Fingerprint.Mode == targets.FingerprintJSON || contract.Fingerprint.Mode == targets.FingerprintFields
	unless(sameJSON, scenarios.NeedsSameJSON, "the contract does not say that the same JSON in another spelling is the same request (fingerprint.mode)")
	unless(len(s.operation().Request.Body) > 0, scenarios.NeedsSameJSON, "the operation's requests have no body")
	unless(holdsWholeNumber(s.operation().Request.Body), scenarios.NeedsNumbers, "the operation's body holds no whole number")
	unless(!natural, scenarios.NeedsExpiry, "the contract declares a natural key, which is not forgotten")
	unless(contract.Expiry.After > 0, scenarios.NeedsExpiry, "the contract does not say when a key is forgotten (expiry.after)")
	unless(time.Duration(contract.Expiry.After) <= longestExpiry, scenarios.NeedsExpiry, "keys are forgotten after "+contract.Expiry.After.String()+", which is longer than a run waits")
	unless(s.target.Database.WriteGate != nil, scenarios.NeedsWriteGate, "the target file names no table whose writers may be held back (database.write_gate)")
	unless(s.server == nil, scenarios.NeedsProcess, "the target runs inside doubletap; "+servedPrefix+" in place of "+builtinPrefix+" makes it a process that can be killed")
	unless(s.target.Process != nil, scenarios.NeedsProcess, "somebody else has started the target (no process in the target file), so it cannot be killed and started again")
	unless(len(s.principals) > 1, scenarios.NeedsPrincipals, "the target file names fewer than two principals")
	unless(contract.Scope.Principal != targets.ScopeShared, scenarios.NeedsPrincipals, "all principals share their keys on purpose (scope.principal)")
	unless(len(s.operations) > 1, scenarios.NeedsOperations, "the target file has fewer than two operations that take a key")
	return why
}

// holdsWholeNumber reports whether a body of a target file has a whole number somewhere.
func holdsWholeNumber(value any) bool {
	switch value := value.(type) {
	case int, int64, uint64:
		return true
	case []any:
		for _, element := range value {
			if holdsWholeNumber(element) {
				return true
			}
		}
	case map[string]any:
		for _, member := range value {
			if holdsWholeNumber(member) {
				return true
			}
		}
	}
	return false
}
