package targets

import (
	"reflect"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Ways returns the other operations that make the same as one, sorted by name.
func (t Target) Ways(of string) []string {
	return slices.DeleteFunc(t.OperationNames(), func(name string) bool { return name == of || t.made(name) != t.made(of) })
}

// made names the operation whose rows an operation makes.
func (t Target) made(name string) string {
	if same := t.Operations[name].SameAs; same != "" {
		return same
	}
	return name
}

// completeWays gives the operations that make the same as another one the steps and rows of that, where they have none. Of
// the columns that are compared it leaves out those whose member the request does not have.
func (t *Target) completeWays() {
	for name, o := range t.Operations {
		first, found := t.Operations[o.SameAs]
		if o.SameAs == "" || !found {
			continue
		}
		if reflect.DeepEqual(o.Rows, contract.Rows{}) {
			o.Rows, o.Marker = first.Rows, first.Marker
			o.Rows.Content = map[string]string{}
			_, members := o.Request.Payload()
			for column, pointer := range first.Rows.Content {
				if _, there := jsonpointer.Resolve(members, pointer); there {
					o.Rows.Content[column] = pointer
				}
			}
			if o.Rows.Content[o.Rows.Adds] == "" {
				o.Rows.Adds = ""
			}
		}
		if o.Parents == nil {
			o.Parents = first.Parents
		}
		if o.Prepare == nil {
			o.Prepare = first.Prepare
		}
		if o.Remove == nil {
			o.Remove = first.Remove
		}
		if o.Cleanup == nil {
			o.Cleanup = first.Cleanup
		}
		t.Operations[name] = o
	}
}

// sameAs sees that two ways to make the same are about one thing.
func sameAs(v *validator, path string, o Operation) {
	at := path + "/same_as"
	first, found := v.target.Operations[o.SameAs]
	switch names := v.target.OperationNames(); {
	case o.SameAs == "":
	case !found:
		v.addMistake(at, "there is no operation %q%s the operations are %s", o.SameAs, suggestion(o.SameAs, names), strings.Join(names, ", "))
	case path == jsonpointer.Of("operations", o.SameAs):
		v.addMistake(at, "expected another operation that makes the same")
	case first.SameAs != "":
		v.addMistake(at, "%s is itself another way of %s; expected %s", o.SameAs, first.SameAs, first.SameAs)
	case o.Rows.Query != first.Rows.Query || !reflect.DeepEqual(o.Rows.HTTP, first.Rows.HTTP):
		v.addMistake(v.present(path+"/rows", at), "these rows are not those of %s, and both are to make the same; leave rows out", o.SameAs)
	case len(o.Prepare) > 0 && !reflect.DeepEqual(o.Prepare, first.Prepare):
		v.addMistake(path+"/prepare", "an intent is prepared once, with the steps of %s; leave prepare out", o.SameAs)
	}
}
