package faults_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func TestEveryMemberOfAFaultIsAKind(t *testing.T) {
	t.Parallel()
	members := reflect.TypeFor[faults.Fault]()
	kinds := faults.Kinds()
	require.Len(t, kinds, members.NumField())
	for i, kind := range kinds {
		key, _, _ := strings.Cut(members.Field(i).Tag.Get("yaml"), ",")
		require.Equal(t, key, kind.Name)
		require.NotEmpty(t, kind.Sentence)
	}
}

func TestAFaultNamesItsKinds(t *testing.T) {
	t.Parallel()
	require.Empty(t, faults.Fault{}.Names())
	require.Equal(t, []string{"cut"}, faults.Fault{Cut: &faults.Cut{}}.Names())
	require.Equal(t, []string{"latency", "lose"}, faults.Fault{Lose: faults.LoseRequest, Latency: &faults.Latency{}}.Names())
}

// definition is a part of the schema of scenarios.
type definition struct {
	Description string
	Ref         string `json:"$ref"`
	AnyOf       []definition
	Properties  map[string]definition
}

// fields are the keys of the mapping that a definition allows.
func (d definition) fields() []string {
	for _, one := range d.AnyOf {
		if one.Properties != nil {
			return one.fields()
		}
	}
	return slices.Sorted(maps.Keys(d.Properties))
}

func TestTheSchemaOfScenariosHasTheKinds(t *testing.T) {
	t.Parallel()
	var schema struct {
		Defs map[string]definition `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(scenarios.Schema(), &schema))
	resolve := func(d definition) definition {
		if name, referred := strings.CutPrefix(d.Ref, "#/$defs/"); referred {
			return schema.Defs[name]
		}
		return d
	}
	inSchema := schema.Defs["fault"].AnyOf[1].Properties
	slow := schema.Defs["slowness"].Properties
	require.Len(t, inSchema, len(faults.Kinds()))
	for _, kind := range faults.Kinds() {
		require.Contains(t, inSchema, kind.Name)
		d := resolve(inSchema[kind.Name])
		require.Equal(t, kind.Sentence, d.Description, kind.Name)
		require.ElementsMatch(t, kind.Fields, d.fields(), kind.Name)
		_, slows := slow[kind.Name]
		require.Equal(t, kind.Slows, slows, kind.Name)
	}
}

func TestTheProxyKnowsEveryKind(t *testing.T) {
	t.Parallel()
	members := reflect.TypeFor[faults.Fault]()
	for i := range members.NumField() {
		f := reflect.New(members)
		if member := f.Elem().Field(i); member.Kind() == reflect.Pointer {
			member.Set(reflect.New(member.Type().Elem()))
		} else {
			member.SetString("request")
		}
		if err := proxy.Check(f.Elem().Interface().(faults.Fault)); err != nil {
			require.NotContains(t, err.Error(), "no toxics are known", members.Field(i).Name)
		}
	}
}
