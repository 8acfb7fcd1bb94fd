package checker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// Who was refused for want of a credential is not told of what was created since.
func TestARepetitionWithoutTheCredential(t *testing.T) {
	t.Parallel()
	a, refused := acknowledged(201, "o1"), withoutCredential(rejected(401))
	again := func(x history.Attempt) *draft { return story(refused, a, withoutCredential(x), a).rows(1) }
	signIn := answer(302, "")
	signIn.Header["Location"] = "/login"
	told := []string{"leak/no-credential"}
	runCells(t, []cell{
		{name: "refused again", story: again(rejected(401))},
		{name: "refused as a conflict", story: again(rejected(409))},
		{name: "answered with a failure", story: again(rejected(500))},
		{name: "answered as a repetition", story: again(a), want: told},
		{name: "answered as a repetition without a name", story: again(answer(201, `{}`)), want: told},
		{name: "told that it exists, without a name", story: again(exists(""))},
		{name: "told what exists", story: again(exists("o1")), want: told},
		{name: "led to the page to sign in, and then told", story: story(withoutCredential(signIn), a, withoutCredential(a)).rows(1), want: told},
		{name: "taken from everybody", story: story(withoutCredential(a), a, withoutCredential(a)).rows(1)},
		{name: "told when nothing was refused before", story: story(a, withoutCredential(a), a).rows(1)},
		{name: "executed again", story: story(refused, a, withoutCredential(acknowledged(201, "o2")), a).rows(2), want: append(told, "duplicate")},
		{name: "executed, though it was refused", story: story(refused, a, withoutCredential(rejected(401)), a).rows(2), want: []string{"duplicate"}},
	})
}

// TestARefusalWithoutTheCredentialThatStays holds that a target which refuses for good what was refused without the credential at first is not said to have
// got wrong credentials: they had let plain creates in.
func TestARefusalWithoutTheCredentialThatStays(t *testing.T) {
	t.Parallel()
	no := rejected(401)
	h := scenes([]*draft{story(withoutCredential(no), no, withoutCredential(no), no).probe(no)})
	h.Run.Normal = ms(5)
	res := check(h, terms())
	require.Equal(t, checker.Inconclusive, res.Verdict)
	require.Contains(t, strings.Join(res.Reasons, "\n"), "may store its refusal under the key")
	require.NotContains(t, strings.Join(res.Reasons, "\n"), "credentials are wrong")
}

// TestARefusalWithoutTheCredentialThatStaysUnderItsKey holds that who has the credential is not refused for what somebody without it was: other keys
// got through before the last refusal, and after it.
func TestARefusalWithoutTheCredentialThatStaysUnderItsKey(t *testing.T) {
	t.Parallel()
	no, denied, done := rejected(401), rejected(403), acknowledged(201, "o1")
	fresh := func(start float64, x history.Attempt) *draft {
		id := fmt.Sprint("f", start)
		return story(during(start, start+5, x)).named(id).fresh().holding(id)
	}
	before, after := fresh(2015, acknowledged(201, "f2015")), fresh(2045, acknowledged(201, "f2045"))
	kept := func(stranger, x history.Attempt) *draft {
		return story(withoutCredential(stranger), x, withoutCredential(stranger), x).probe(during(2000, 2010, x), during(2030, 2040, x))
	}
	for name, c := range map[string]struct {
		drafts []*draft
		want   []string
	}{
		"kept":                               {[]*draft{kept(no, no), before, after}, []string{"stored-error/no-credential"}},
		"kept, as 403":                       {[]*draft{kept(denied, denied), before, after}, []string{"stored-error/no-credential"}},
		"nobody gets through afterwards":     {[]*draft{kept(no, no), before, story(during(2045, 2050, no)).named("f").fresh()}, nil},
		"nobody got through before":          {[]*draft{kept(no, no), after}, nil},
		"the key was not asked for since":    {[]*draft{story(withoutCredential(no), no).probe(during(2000, 2010, no)), before, after}, nil},
		"the client came first":              {[]*draft{story(no, withoutCredential(no), no).probe(during(2000, 2010, no), during(2030, 2040, no)), before, after}, nil},
		"who had no credential was let in":   {[]*draft{kept(done, no), before, after}, nil},
		"it is refused for what it asks for": {[]*draft{kept(no, rejected(422)), before, after}, nil},
		"it was done once":                   {[]*draft{story(withoutCredential(no), done, no).rows(1).probe(during(2000, 2010, no), during(2030, 2040, no)), before, after}, nil},
	} {
		var barred []string
		for _, f := range found(check(scene(c.drafts...), terms())) {
			if f == "stored-error/no-credential" {
				barred = append(barred, f)
			}
		}
		require.Equal(t, c.want, barred, name)
	}
}
