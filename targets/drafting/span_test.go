package drafting

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestABeginningAndAnEndDifferTogether holds that two times of one thing keep their distance, and that one of them is what the other goes by.
func TestABeginningAndAnEndDifferTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body   map[string]any
		spans  [][]string
		differ map[string]string
	}{
		"an hour": {
			map[string]any{"to": "2027-03-01T10:00:00Z", "from": "2027-03-01T09:00:00Z"}, [][]string{{"/from", "/to"}},
			map[string]string{"/from": `{{unique "time" "2006-01-02T15:04:05Z" "0s"}}`, "/to": `{{unique "time" "2006-01-02T15:04:05Z" "1h0m0s"}}`},
		},
		"a week, inside": {
			map[string]any{"stay": map[string]any{"in": "2027-03-01", "out": "2027-03-08"}}, [][]string{{"/stay/in", "/stay/out"}},
			map[string]string{"/stay/in": `{{unique "time" "2006-01-02" "0s"}}`, "/stay/out": `{{unique "time" "2006-01-02" "24h0m0s"}}`},
		},
		"with a zone": {
			map[string]any{"a": "2027-03-01T09:00+02:00", "b": "2027-03-01T09:15+02:00"}, [][]string{{"/a", "/b"}},
			map[string]string{"/a": `{{unique "time" "2006-01-02T15:04" "0s"}}+02:00`, "/b": `{{unique "time" "2006-01-02T15:04" "15m0s"}}+02:00`},
		},
		"of two things":         {map[string]any{"born": "1990-01-01", "from": "2027-03-01"}, nil, nil},
		"the same":              {map[string]any{"a": "2027-03-01", "b": "2027-03-01"}, nil, nil},
		"of two members inside": {map[string]any{"x": map[string]any{"a": "2027-03-01"}, "y": map[string]any{"b": "2027-03-02"}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.body["note"] = "x"
			f := File{Draft: Draft{Body: c.body, Texts: []string{"/note"}}, Proof: &Proof{Row: map[string]string{"note": "mx0"}, Where: Where{Column: "note", Exact: true}, Text: "/note"}}
			require.Equal(t, c.spans, Spans(&f))
			if c.spans == nil {
				return
			}
			f.Differing = c.spans[0]
			settled := settledOf(f)
			for pointer, template := range c.differ {
				require.Equal(t, template, settled[pointer])
			}
			require.Equal(t, c.spans[0][:1], f.Suspects(), "the end goes by the beginning")
			f.same = c.spans[0][:1]
			kept := settledOf(f)
			require.Empty(t, kept[c.spans[0][0]])
			require.Empty(t, kept[c.spans[0][1]], "both are kept")
		})
	}
}
