package checker_test

import (
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
