package contract_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
)

// TestAKeyLikeAnother holds that keys have the form of the one that is shown, that each is another one, and that the same comes of the same.
func TestAKeyLikeAnother(t *testing.T) {
	for like, form := range map[string]string{
		"ik_4f9a0c2b7d1e":                      `^ik_[0-9a-f]{12}$`,
		"ik_live_7Hq2ZpX9aB3c":                 `^ik_live_[A-HJ-NP-Za-km-z2-9]{12}$`,
		"01HZX3V9K8Q2M5N7P4R6S8T0WY":           `^01HZX3V9K8[A-HJKMNP-TV-Z2-7]{16}$`,
		"01890a5d-ac96-774b-bcce-b302099a8057": `^01890a5d-ac96-7[0-9a-f]{3}-b[0-9a-f]{3}-[0-9a-f]{12}$`,
		"6F9619FF-8B86-4011-B42D-00CF4FC964FF": `^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-B[0-9A-F]{3}-[0-9A-F]{12}$`,
		"20261129-482915":                      ``, // too few differ
		"20261129-4829153077":                  `^20261129-[1-9][0-9]{9}$`,
		"2026-11-29-AX4829153077":              `^2026-11-29-AX[1-9][0-9]{9}$`,
		"ORD1234567890":                        `^ORD[1-9][0-9]{9}$`,
		"1764400000123":                        `^17[0-9]{11}$`,
		"483920175":                            `^[1-9][0-9]{8}$`,
		"12345":                                ``,
		"checkout":                             `^[a-z]{8}$`,
		"order-checkout":                       `^order-[a-z]{8}$`,
		"9F86D081884C7D65":                     `^[0-9A-F]{16}$`,
		"V1StGXR8_Z5jdHi6B-myT":                `^[A-Za-z2-9]{8}_[A-Za-z2-9]{8}-[A-Za-z]{3}$`,
		"q83vEjRWeJCrze8SNFZ4kA==":             `^[A-Za-z2-9]{21}A==$`,
		"-":                                    ``,
	} {
		k := contract.Key{Like: like}
		one, other := k.Shaped("one"), k.Shaped("other")
		if form == "" {
			require.False(t, k.Drawable(), like)
			continue
		}
		require.True(t, k.Drawable(), like)
		require.Regexp(t, regexp.MustCompile(form), one)
		require.Regexp(t, regexp.MustCompile(form), other)
		require.NotEqual(t, one, other)
		require.Equal(t, one, k.Shaped("one"))
		require.Empty(t, k.Shaped(""), "a blank key stays blank")
	}
	require.Equal(t, "one", contract.Key{}.Shaped("one"), "any text is a key")
}
