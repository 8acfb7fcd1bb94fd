package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// TestARequestWithoutABodySaysWhatItsQueryHas holds which parameters are members, and that secrets and keys stay where they are.
func TestARequestWithoutABodySaysWhatItsQueryHas(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl -X POST 'localhost:8080/tickets?title=Broken%20lamp&seats=2&access_token=s3cret&key=k3y&idempotency_key=abc'`)
	require.NoError(t, err)
	d := c.Draft("SHOP")
	require.True(t, d.Query && !d.Form)
	require.Equal(t, map[string]any{"title": "Broken lamp", "seats": "2"}, d.Body)
	require.Equal(t, []string{"/title"}, d.Texts)
	require.Equal(t, []drafting.Other{{Pointer: "/seats", Value: "3"}}, d.Others)
	require.Equal(t, "/tickets?access_token=${SHOP_ACCESS_TOKEN}&key=${SHOP_KEY}", d.Path)
	require.Equal(t, contract.Key{In: contract.KeyInQuery, Name: "idempotency_key"}, d.Key.Key)
}

// TestARequestThatSaysNothingIsNoCreate holds what is said of a command without anything that could carry a marker, and of one that curl sends
// by GET.
func TestARequestThatSaysNothingIsNoCreate(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		`curl -X POST localhost:8080/tickets`,
		`curl -X POST 'localhost:8080/tickets?token=a'`,
		`curl -X POST 'localhost:8080/tickets?tag=a&tag=b'`,
		`curl 'localhost:8080/tickets?title=a'`,
		`curl -X GET 'localhost:8080/tickets?title=a'`,
	} {
		_, err := drafting.ReadCurl(command)
		require.ErrorContains(t, err, "it has no body (-d): a create needs one that can carry a marker", command)
	}
}

// TestACreateMaySayNothingButItsKey holds that a command without a body is a create where it has an idempotency key: rows may be found by that.
func TestACreateMaySayNothingButItsKey(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl -X POST 'localhost:8080/uploads?tag=a&tag=b' -H 'Upload-Length: 100' -H 'Idempotency-Key: 7b2f'`)
	require.NoError(t, err)
	d := c.Draft("SHOP")
	require.Equal(t, "/uploads?tag=a&tag=b", d.Path)
	require.True(t, d.Query && len(d.Body) == 0 && d.Keyed())
	require.Equal(t, map[string]string{"Upload-Length": "100"}, d.Header)
}

// TestARecordedQueryMayCreate holds that a browser's request without a body counts only if its answer says that something was created.
func TestARecordedQueryMayCreate(t *testing.T) {
	t.Parallel()
	for status, creates := range map[string]bool{"201": true, "200": false} {
		all, err := drafting.ReadHAR([]byte(`{"log": {"entries": [{"request": {"method": "POST", "url": "http://localhost:8080/tickets?title=Lamp", "headers": []},
			"response": {"status": ` + status + `, "content": {"text": "{}"}}}]}}`))
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, map[string]any{"title": "Lamp"}, all[0].Body)
		require.Equal(t, creates, all[0].LooksCreating(), status)
	}
}

// TestARecordedBodyThatWasNotKeptIsNoQuery holds that what a browser sent in parts, of which the file keeps nothing, is not read as a request without
// a body.
func TestARecordedBodyThatWasNotKeptIsNoQuery(t *testing.T) {
	t.Parallel()
	all, err := drafting.ReadHAR([]byte(`{"log": {"entries": [{"request": {"method": "POST", "url": "http://localhost:8080/photos?album=Lamp", "headers": [],
		"postData": {"mimeType": "multipart/form-data; boundary=x", "text": ""}}, "response": {"status": 201, "content": {"text": "{}"}}}]}}`))
	require.NoError(t, err)
	require.Empty(t, all)
}

// TestAWordThatSaysNothingIsNoSecret holds that no run waits for a secret that is none: a switch, or signs alone, such as the token of those who have
// not logged in.
func TestAWordThatSaysNothingIsNoSecret(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl 'localhost:8080/pages?token=1' -H 'X-Auth-Token: -' --data-urlencode 'token=+\' -d 'secret=a&title=Broken lamp'`)
	require.NoError(t, err)
	d := c.Draft("WIKI")
	require.Equal(t, []string{"WIKI_SECRET"}, d.Needed)
	require.Equal(t, `+\`, d.Body["token"])
	require.Equal(t, []string{"/title"}, d.Texts)
}
