package explain

import (
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// principals says what is held between two who send. A run takes the first two by name.
func (x *explainer) principals() {
	names := slices.Sorted(maps.Keys(x.target.Principals))
	switch scope := x.contract.Scope.Principal; {
	case !x.chosen(), x.operation.Rows.ByKey():
	case scope == contract.ScopeShared:
		x.notChecked("scope.principal: shared", "Whether one principal is shown what another sent, because to the target all principals are one")
	case !x.keyed():
		x.notChecked("key", "Whether one principal is shown what another sent, because a run tries it with keys that two of them use")
	case len(names) < 2:
		x.notChecked("principals", "Whether one principal is shown what another sent, and whether they share keys, because the file does not name two of them")
	default:
		twoPrincipals(x, scope, english.Word(names[0]), english.Word(names[1]))
	}
}

// credential says what somebody is told who does not say who he is.
func credential(x *explainer) {
	names := x.operation.Request.Credential
	if len(names) == 0 || !x.keyed() && len(x.contract.NaturalKey) == 0 {
		return
	}
	x.held("request.credential", "A request without %s, which is refused before something was created, is refused afterwards as well", english.List(names, "and"))
}

// twoPrincipals says what a key means that two principals use.
func twoPrincipals(x *explainer, scope contract.KeyScope, one, other string) {
	x.held(everyContract, "Neither of %s and %s is shown what the other one sent", one, other)
	switch scope {
	case contract.ScopeSeparate:
		x.held("scope.principal: separate", "A key that both %s and %s use is two keys: each of them gets what they asked for", one, other)
	case contract.ScopeReject:
		x.held("scope.principal: reject", "Of %s and %s, who use the same key, the second is refused", one, other)
	default:
		x.undeclared("scope.principal", "Whether a key that two principals use is two keys, or the second one is refused")
	}
}

// operations says what is held between this operation and another one. A run takes the first by name
// that has a key.
func (x *explainer) operations() {
	if !x.keyed() || !x.chosen() {
		return
	}
	names, ways := x.target.OperationNames(), x.target.Ways(x.out.Operation)
	for _, way := range ways {
		x.held("same_as", "%s and %s make the same: what is sent by each of them under one key is one intent", x.out.Operation, way)
	}
	if x.operation.Rows.ByKey() {
		return
	}
	i := slices.IndexFunc(names, func(name string) bool {
		return name != x.out.Operation && !slices.Contains(ways, name) && x.target.Operations[name].Key.In != contract.KeyNowhere && len(x.target.Operations[name].Key.Issued) == 0
	})
	if i < 0 {
		x.notChecked("operations", "Whether two operations share keys, because the file does not have two with a key")
		return
	}
	otherOperation(x, names[i])
}

// parents says what is held between two paths of this operation.
func parents(x *explainer) {
	if !x.keyed() || !x.chosen() || x.operation.Rows.ByKey() || !x.operation.HasParent() {
		return
	}
	const used = "A key that is used at %s for two parents"
	switch path := x.operation.Request.Path; x.contract.Scope.Path {
	case contract.ScopeSeparate:
		x.held("scope.path: separate", used+" is two keys: neither is answered with what was made for the other one", path)
	case contract.ScopeReject:
		x.held("scope.path: reject", used+" is refused the second time", path)
	default:
		x.undeclared("scope.path", "Whether a key that is used at %s for two parents is two keys, or is refused the second time", path)
	}
}

// otherOperation says what a key means that is used at another operation.
func otherOperation(x *explainer, other string) {
	switch x.contract.Scope.Operation {
	case contract.ScopeSeparate:
		x.held("scope.operation: separate", "A key that is also used at %s is two keys: neither operation answers with what the other one made", other)
	case contract.ScopeReject:
		x.held("scope.operation: reject", "A key that is also used at %s is refused the second time", other)
	default:
		x.undeclared("scope.operation", "Whether a key that is also used at %s is two keys, or is refused the second time", other)
	}
}
