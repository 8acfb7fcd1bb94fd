package drafting_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestNamesAreMadeFitForFiles(t *testing.T) {
	t.Parallel()
	for title, slug := range map[string]string{
		"My Shop (v2)": "my-shop-v2", "": "api", "2 people": "api-2-people", "Ünïcode": "n-code", "!!": "api",
		strings.Repeat("long ", 20): strings.TrimSuffix(strings.Repeat("long-", 8), "-"),
	} {
		require.Equal(t, slug, drafting.Slug(title), title)
	}
	require.Equal(t, "SHOP_API_KEY", drafting.Variable(drafting.Prefix("shop"), "X-Api-Key"))
	require.Equal(t, "MY_SHOP_CUSTOMER_ID", drafting.Variable(drafting.Prefix("my-shop"), "customerId"))
}
