package targets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/brianvoe/gofakeit/v7"
)

// fake returns made-up data of a kind that gofakeit knows: a text, a number or a truth value.
func (d *drawing) fake(kind string) (any, error) {
	name := strings.ToLower(kind)
	info := gofakeit.GetFuncLookup(name)
	if info == nil {
		name = strings.NewReplacer("_", "", "-", "", " ", "").Replace(name)
		info = gofakeit.GetFuncLookup(name)
	}
	if info == nil || !canFake(name, *info) {
		known := Fakes()
		return nil, fmt.Errorf("fake does not know %q%s there are %d kinds, such as name, email, street, city, company and sentence, and dates come from now",
			kind, suggestion(kind, known), len(known))
	}
	var source rand.Source = d.chance()
	return info.Generate(gofakeit.NewFaker(source, false), gofakeit.NewMapParams(), info)
}

// Fakes returns the names of what fake knows, sorted.
func Fakes() []string {
	var names []string
	for name, info := range gofakeit.FuncLookups {
		if canFake(name, info) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// canFake reports whether what comes out is one plain value, the same for the same seed on any day, and
// asks for nothing.
func canFake(name string, info gofakeit.Info) bool {
	for _, p := range info.Params {
		if p.Default == "" {
			return false
		}
	}
	plain := slices.Contains([]string{"string", "int", "uint", "float", "float32", "float64", "bool"}, info.Output)
	return plain && info.Category != "datetime" && info.Category != "error" && name != "creditcardexp"
}
