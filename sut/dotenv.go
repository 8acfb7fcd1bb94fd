package sut

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// dotEnv is the name of the file beside a target file that has values of variables. It is
// read because projects have it already, and a missing variable would be the first error
// of most.
const dotEnv = ".env"

// besideTarget are the options with the variables of the .env beside the target file. What the environment has counts first.
func (o Options) besideTarget() (Options, error) {
	if o.Source != nil || o.Spec != nil {
		return o, nil
	}
	env, err := Beside(filepath.Dir(o.Target), o.env)
	if err == nil {
		o.Getenv = env
	}
	return o, err
}

// Beside returns an environment with the variables of the .env in a folder. What the environment has counts first.
func Beside(folder string, env func(string) (string, bool)) (func(string) (string, bool), error) {
	path := filepath.Join(folder, dotEnv)
	text, err := files.Read(path, files.MostText)
	if errors.Is(err, fs.ErrNotExist) {
		return env, nil
	}
	if err != nil {
		return nil, runerror.Config(runerror.Unreadable("file", path, err))
	}
	beside := parseDotEnv(string(text))
	return func(name string) (string, bool) {
		if value, set := env(name); set {
			return value, set
		}
		value, set := beside[name]
		return value, set
	}, nil
}

// assignment is a line of a .env file.
var assignment = regexp.MustCompile(`^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*)$`)

// parseDotEnv reads lines of NAME=value. A value in quotes is what stands between them; of another, a comment behind a space is no
// part. Nothing in it is expanded. The file is written for others, so that lines of other forms, such as those of a value that
// goes over several, are left alone: who needs a variable of them is told that it is not set.
func parseDotEnv(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		parts := assignment.FindStringSubmatch(strings.TrimSpace(line))
		if parts == nil {
			continue
		}
		value := parts[2]
		if quote := value[:min(1, len(value))]; quote == `"` || quote == "'" {
			inner, rest, closed := strings.Cut(value[1:], quote)
			if rest = strings.TrimSpace(rest); !closed || rest != "" && !strings.HasPrefix(rest, "#") {
				continue
			}
			value = inner
		} else if at := strings.Index(value, " #"); at >= 0 {
			value = strings.TrimSpace(value[:at])
		}
		all[parts[1]] = value
	}
	return all
}
