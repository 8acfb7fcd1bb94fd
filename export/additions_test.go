package export

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/export/curl"
)

func TestAnAdditionIsANumberOfTheBody(t *testing.T) {
	t.Parallel()
	rows := contract.Rows{Adds: "amount", Content: map[string]string{"amount": "/of/amount"}}
	for body, each := range map[string]string{
		`{"of": {"amount": 1200}}`: "1200", `{"of": {"amount": 0.25}}`: "0.25", `{"of": {"amount": 1e3}}`: "1000",
		`{"of": {"amount": 0}}`: "", `{"of": {"amount": -1}}`: "", `{"of": {"amount": "12"}}`: "", `{}`: "", `amount=12`: "", ``: "",
	} {
		addition, is := additionOf(rows, []byte(body))
		require.Equal(t, each != "", is, body)
		if is {
			require.Equal(t, curl.Addition{Column: "amount", Each: each}, addition, body)
		}
	}
	rows.Adds, rows.Content = `am"ount`, map[string]string{`am"ount`: "/of/amount"}
	_, is := additionOf(rows, []byte(`{"of": {"amount": 1200}}`))
	require.False(t, is, "its name would have to be quoted")
}
