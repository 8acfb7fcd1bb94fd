package targets

import (
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// effects looks at what creates change beyond their rows. A report names an effect without its
// operation.
func (v *validator) effects() {
	first := map[string]string{} // name: the operation that has it
	for _, name := range v.target.OperationNames() {
		list := jsonpointer.Of("operations", name, "effects")
		effects := v.target.Operations[name].Effects
		if len(effects) > 0 && !v.target.Database.Declared() {
			v.addMistake(list, "effects are read from a database, and there is none")
			continue
		}
		for i, e := range effects {
			path := list + jsonpointer.Of(i)
			v.effect(path, e)
			if other, taken := first[e.Name]; taken {
				v.addMistake(path+"/name", "%s is the name of another effect, of %s", v.doc.Shown(path+"/name"), other)
			}
			first[e.Name] = name
		}
	}
}

func (v *validator) effect(path string, e contract.Effect) {
	given := 0
	for _, set := range []bool{e.Rows != nil, e.Value != nil, e.Delta != nil} {
		if set {
			given++
		}
	}
	switch {
	case given != 1:
		v.addMistake(path, "expected exactly one of rows, value and delta")
	case e.Delta != nil && hasMarker(e.Query):
		v.addMistake(path+"/query", "the query of a delta has no :marker, because its number is that of all intents together; take it away, or write value instead of delta")
	case e.Delta == nil && !hasMarker(e.Query):
		v.addMistake(path+"/query", noMarker)
	}
}
