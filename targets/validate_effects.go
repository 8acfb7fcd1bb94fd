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
		o := v.target.Operations[name]
		for i, e := range o.Effects {
			path := list + jsonpointer.Of(i)
			v.effect(path, o, e)
			if other, taken := first[e.Name]; taken {
				v.addMistake(path+"/name", "%s is the name of another effect, of %s", v.doc.Shown(path+"/name"), other)
			}
			first[e.Name] = name
		}
	}
}

// effect looks at one effect: it is read from the database in one of three ways, or counted at a
// sink.
func (v *validator) effect(path string, o Operation, e contract.Effect) {
	given := 0
	for _, set := range []bool{e.Rows != nil, e.Value != nil, e.Delta != nil, e.Seen != ""} {
		if set {
			given++
		}
	}
	switch {
	case given != 1:
		v.addMistake(path, "expected exactly one of rows, value, delta and seen")
	case e.Seen != "":
		if e.Query != "" {
			v.addMistake(path+"/query", "what is seen at a sink is counted there, and not with a query; leave one of the two out")
		}
		seenEffect(v, path, o, e)
		return
	case e.Query == "":
		v.addMistake(path, "the key \"query\" is missing, which reads it from the database")
	case !v.target.Database.Declared():
		v.addMistake(path, "the effect is read from a database, and there is none")
	case e.Delta != nil && hasMarker(e.Query):
		v.addMistake(path+"/query", "the query of a delta has no :marker, because its number is that of all intents together; take it away, or write value instead of delta")
	case e.Delta == nil:
		parameter(v, path+"/query", e.Query)
	}
	if e.Delta != nil && v.doc.Has(path+"/delivery") {
		v.addMistake(path+"/delivery", "a delta is the change of a number by all intents together, which does not tell what may be missing; take delivery away, or write rows or value")
	}
	for _, key := range []string{"where", "undone", "times", "within"} {
		if v.doc.Has(path + "/" + key) {
			v.addMistake(path+"/"+key, "this is about what is seen at a sink, and the effect is read from the database")
		}
	}
}
