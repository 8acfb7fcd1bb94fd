package runerror_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/runerror"
)

func TestIsConfig(t *testing.T) {
	t.Parallel()
	config, environment := runerror.Configf("line 3"), runerror.Environment(errors.New("disk full"))
	for name, row := range map[string]struct {
		err    error
		config bool
	}{
		"nothing failed":                      {nil, false},
		"an error without a mark":             {fs.ErrNotExist, false},
		"a config error":                      {config, true},
		"a config error inside a sentence":    {fmt.Errorf("orders.yaml: %w", config), true},
		"an environment error":                {environment, false},
		"the outermost mark decides":          {runerror.Environment(config), false},
		"the first of joined errors decides":  {errors.Join(environment, config), false},
		"the first that is marked, of joined": {errors.Join(fs.ErrNotExist, config), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.config, runerror.IsConfig(row.err))
		})
	}
}

func TestMarksKeepTheCause(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, runerror.Config(fs.ErrNotExist), fs.ErrNotExist)
	require.ErrorIs(t, runerror.Environment(fs.ErrNotExist), fs.ErrNotExist)
	var config *runerror.ConfigError
	require.ErrorAs(t, fmt.Errorf("run: %w", runerror.Configf("line %d", 3)), &config)
	require.EqualError(t, config, "line 3")
	var environment *runerror.EnvironmentError
	require.ErrorAs(t, runerror.Environment(errors.New("disk full")), &environment)
	require.NoError(t, runerror.Config(nil))
	require.NoError(t, runerror.Environment(nil))
}
