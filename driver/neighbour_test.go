package driver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// TestLongKeysAreOfEveryLengthThatColumnsHold holds that keys which are cut to a usual length meet, though the target refuses those that are
// half as long again.
func TestLongKeysAreOfEveryLengthThatColumnsHold(t *testing.T) {
	t.Parallel()
	n := driver.Names{Seed: 7, Run: "r1", Scenario: "s"}
	pairs := map[int]string{}
	for first := 0; first < 12; first += 2 {
		one := n.NeighbourKey(scenarios.Neighbour{First: first, Keys: scenarios.KeysLong}, scenarios.IntentID(first))
		other := n.NeighbourKey(scenarios.Neighbour{First: first, Place: 1, Keys: scenarios.KeysLong}, scenarios.IntentID(first+1))
		if len(one) == 48 {
			require.Equal(t, one[:len(one)-3], other, "the beginning of the first")
		} else {
			require.Equal(t, one[:len(one)-3], other[:len(other)-3])
		}
		require.NotEqual(t, one, other)
		pairs[len(one)] = one
	}
	require.Regexp(t, uuidForm, pairs[36])
	for _, column := range []int{32, 36, 40, 64, 100, 128, 191, 255} {
		require.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(pairs)), func(length int) bool { return length-3 >= column && length <= column*3/2 }), column)
	}
}

func kinKeys(likeness scenarios.Likeness, of int) []string {
	n := driver.Names{Seed: 7, Run: "r1", Scenario: "s"}
	var keys []string
	for place := range of {
		keys = append(keys, n.NeighbourKey(scenarios.Neighbour{First: 3, Place: place, Keys: likeness}, scenarios.IntentID(3+place)))
	}
	return keys
}

func TestTheKeysOfNeighboursResembleEachOther(t *testing.T) {
	t.Parallel()
	const of = 100
	for likeness, same := range map[scenarios.Likeness]func(string) string{
		scenarios.KeysCase:  strings.ToLower,
		scenarios.KeysSpace: func(key string) string { return strings.TrimRight(key, " ") },
		scenarios.KeysQuote: func(key string) string { return strings.ReplaceAll(key, `"`, "") },
		scenarios.KeysLong:  func(key string) string { return key[:45] },
	} {
		keys := kinKeys(likeness, of)
		seen := map[string]bool{}
		for _, key := range keys {
			require.False(t, seen[key], "%s: the key %q twice", likeness, key)
			seen[key] = true
			require.Equal(t, same(keys[0]), same(key), likeness)
		}
	}
	equal := kinKeys(scenarios.KeysEqual, 3)
	require.Equal(t, []string{equal[0], equal[0], equal[0]}, equal)
	require.Regexp(t, uuidForm, equal[0])
	unlike := kinKeys(scenarios.KeysUnlike, 2)
	require.NotEqual(t, unlike[0], unlike[1])
	require.Equal(t, []string{"", ""}, kinKeys(scenarios.KeysBlank, 2))
}

// TestOfTwoKeysEachFormComesFirstOnce holds that of four neighbours, two have one key in two forms, and two another one, which differs in a digit
// alone and comes in the other form first.
func TestOfTwoKeysEachFormComesFirstOnce(t *testing.T) {
	t.Parallel()
	for likeness, other := range map[scenarios.Likeness]*regexp.Regexp{
		scenarios.KeysCase: regexp.MustCompile("^L"), scenarios.KeysSpace: regexp.MustCompile(" $"), scenarios.KeysQuote: regexp.MustCompile(`"$`),
	} {
		plan := scenarios.NewPlan(scenarios.Scenario{
			Name: "kin", Intents: 4, Neighbours: &scenarios.Neighbours{Of: 4, Keys: likeness}, Steps: []scenarios.Step{send()},
		}, 7)
		n := driver.Names{Seed: 7, Run: "r1", Scenario: "kin"}
		var keys, plain []string
		var forms []bool
		for _, i := range plan.Intents {
			key := n.NeighbourKey(*i.Neighbour, i.ID)
			keys, forms = append(keys, key), append(forms, other.MatchString(key))
			plain = append(plain, strings.TrimRight(strings.ToLower(key), ` "`))
		}
		require.Equal(t, []bool{false, true, true, false}, forms, keys)
		require.Equal(t, []string{plain[0], plain[0], plain[2], plain[2]}, plain)
		require.Equal(t, []string{plain[0][:len(plain[0])-1] + "1", plain[0][:len(plain[0])-1] + "2"}, []string{plain[0], plain[2]})
	}
}

// neighbours drives two intents that have something in common, and returns the requests as they came.
func neighbours(t *testing.T, kin scenarios.Neighbours, change func(*rig)) (*history.History, []*http.Request) {
	t.Helper()
	var came []*http.Request
	address := serve(t, func(_ http.ResponseWriter, r *http.Request) { came = append(came, r) })
	r := newRigFor(t, address, scenarios.Scenario{
		Name: "kin", Intents: 2, Concurrency: 1, Neighbours: &kin, Steps: []scenarios.Step{send()},
	})
	r.Principals = append(r.Principals, driver.Principal{Name: "bob", Values: targets.Principal{"Token": "other-secret-7"}})
	quote := operation()
	quote.Request.Path = "/quotes"
	r.Operations = append(r.Operations, driver.Operation{Name: "quote", Operation: quote})
	if change != nil {
		change(r)
	}
	return r.drive(t), came
}

func TestNeighboursSendAsDifferentPrincipals(t *testing.T) {
	t.Parallel()
	h, came := neighbours(t, scenarios.Neighbours{Of: 2, Keys: scenarios.KeysEqual, Across: scenarios.AcrossPrincipals}, nil)
	require.Equal(t, []string{"alice", "bob"}, []string{h.Intents[0].Principal, h.Intents[1].Principal})
	require.Equal(t, []string{"i001", "i001"}, []string{h.Intents[0].Kin, h.Intents[1].Kin})
	require.Equal(t, "Bearer sesame-open-9", came[0].Header.Get("Authorization"))
	require.Equal(t, "Bearer other-secret-7", came[1].Header.Get("Authorization"))
	require.Equal(t, h.Attempts[0].Key, h.Attempts[1].Key)
	require.NotEqual(t, h.Intents[0].Bodies[history.Original].Marker, h.Intents[1].Bodies[history.Original].Marker)
}

func TestNeighboursSendToDifferentOperations(t *testing.T) {
	t.Parallel()
	h, came := neighbours(t, scenarios.Neighbours{Of: 2, Keys: scenarios.KeysEqual, Across: scenarios.AcrossOperations}, nil)
	require.Equal(t, []string{"", "quote"}, []string{h.Intents[0].Operation, h.Intents[1].Operation})
	require.Equal(t, []string{"/orders", "/quotes"}, []string{came[0].URL.Path, came[1].URL.Path})
	require.Equal(t, "alice", h.Intents[1].Principal)
}

func TestABlankKeyIsSentAndHoldsNothing(t *testing.T) {
	t.Parallel()
	h, came := neighbours(t, scenarios.Neighbours{Of: 2, Keys: scenarios.KeysBlank}, nil)
	for n, a := range h.Attempts {
		require.Empty(t, a.Key)
		require.True(t, a.BlankKey)
		require.Equal(t, []string{""}, came[n].Header["Idempotency-Key"])
	}
	h, _ = neighbours(t, scenarios.Neighbours{Of: 2, Keys: scenarios.KeysBlank}, func(r *rig) { r.Operations[0].Key = targets.Key{} })
	require.False(t, h.Attempts[0].BlankKey, "an operation without a key")
}

func TestMarkersAreAskedForByTheirOperation(t *testing.T) {
	t.Parallel()
	r := newRigFor(t, "", scenarios.Scenario{
		Intents: 4, Neighbours: &scenarios.Neighbours{Of: 2, Across: scenarios.AcrossOperations}, Steps: []scenarios.Step{send()},
	})
	r.Operations = append(r.Operations, driver.Operation{Name: "quote", Operation: operation()})
	require.Equal(t, map[string][]string{
		"create": {r.Names.Marker(1, history.Original), r.Names.Marker(3, history.Original)},
		"quote":  {r.Names.Marker(2, history.Original), r.Names.Marker(4, history.Original)},
	}, r.Markers())
}

// Each second intent begins with the other way, which is another operation with a place of its own for the key.
func TestAnIntentIsSentByTwoWays(t *testing.T) {
	t.Parallel()
	var lock sync.Mutex
	var came []string
	r := newRigFor(t, serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		lock.Lock()
		defer lock.Unlock()
		var said struct{ Key string }
		_ = json.Unmarshal(body, &said)
		came = append(came, fmt.Sprintf("%s header %t body %t", r.URL.Path, r.Header.Get("Idempotency-Key") != "", said.Key != ""))
	}), scenarios.Scenario{
		Name: "ways", Intents: 4, Concurrency: 1, Steps: []scenarios.Step{
			{Send: &scenarios.Send{Lane: scenarios.Clean, Ways: []scenarios.Way{scenarios.OwnWay, scenarios.OtherWay}}},
			{Send: &scenarios.Send{Lane: scenarios.Clean, Ways: []scenarios.Way{scenarios.OtherWay, scenarios.OwnWay}}},
		},
	})
	for _, path := range []string{"/v1/orders", "/v2/orders"} {
		way := operation()
		way.Request.Path, way.Key.In, way.Key.Name = path, contract.KeyInBody, "key"
		r.Ways = append(r.Ways, driver.Operation{Name: "create" + path[1:3], Operation: way})
	}
	h := r.drive(t)
	own, first, second := "/orders header true body false", "/v1/orders header false body true", "/v2/orders header false body true"
	require.Equal(t, []string{own, first, first, own, own, second, second, own}, came)
	require.Equal(t, "createv2", h.Intents[3].Bodies[history.OtherWay].Operation)
	require.Equal(t, h.Intents[3].Bodies[history.Original].Marker, h.Intents[3].Bodies[history.OtherWay].Marker)
	require.Equal(t, h.Attempts[0].Key, h.Attempts[1].Key, "it is one intent under one key")
}
