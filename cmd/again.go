package cmd

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// again is the command that does the whole run once more.
func (o runOptions) again() string {
	words := []string{program()}
	if o.finding != "" {
		words = append(words, "replay", quoted(o.finding))
	} else {
		words = append(words, "run")
	}
	for _, arg := range o.args {
		words = append(words, quoted(arg))
	}
	words = append(words, o.flagsAgain()...)
	if o.finding == "" {
		words = append(words, "--seed", fmt.Sprint(o.seed))
	}
	words = append(words, o.gate.again()...)
	return strings.Join(words, " ")
}

// again returns the flags of a gate that are not as usual.
func (g gate) again() []string {
	var words []string
	if g.inconclusive == "warn" {
		words = append(words, "--inconclusive", g.inconclusive)
	}
	if g.mended == "warn" {
		words = append(words, "--mended", g.mended)
	}
	return words
}

// flagsAgain returns the flags that run and replay share, as far as they say something.
func (o runOptions) flagsAgain() []string {
	var words []string
	if o.finding == "" {
		words = append(words, o.targetFlags())
	}
	words = append(words, o.placeFlags()...)
	if o.operation != "" && o.finding == "" {
		words = append(words, "--operation", quoted(o.operation))
	}
	if o.toxiproxy != "" {
		words = append(words, "--toxiproxy", quoted(withoutPassword(o.toxiproxy)))
	}
	if o.reports != usualReports {
		words = append(words, "--reports", quoted(o.reports))
	}
	if o.maxRequests != usualMaxRequests {
		words = append(words, "--max-requests", fmt.Sprint(o.maxRequests))
	}
	if o.known != "" {
		words = append(words, "--known", quoted(o.known))
	}
	if o.confidence > 0 && o.finding == "" {
		words = append(words, "--confidence", o.confidence.String())
	}
	if o.pilotTimeout != usualPilotTimeout {
		words = append(words, "--pilot-timeout", fmt.Sprint(o.pilotTimeout))
	}
	return words
}

// targetFlags name the target, and how many instances of it, if that was asked for.
func (o runOptions) targetFlags() string {
	if o.instances > 0 {
		return fmt.Sprintf("--target %s --instances %d", quoted(o.target), o.instances)
	}
	return "--target " + quoted(o.target)
}

// about is a command about a finding of a run; {} stands for the finding's id.
func (o runOptions) about(dir runDir, command string) string {
	words := []string{program(), command, quoted(dir.path) + "/" + findingsName + "/{}"}
	return strings.Join(append(words, o.placeFlags()...), " ")
}

// placeFlags name the database and the store of a built-in target.
func (o runOptions) placeFlags() []string {
	return append(placeFlag("--database", o.database, databaseVariable), placeFlag("--store", o.store, storeVariable)...)
}

// placeFlag gives a flag an address. A password is left to the environment, which is asked anyway where
// there is no flag.
func placeFlag(flag, address, variable string) []string {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return nil
	case err == nil && u.User == nil && u.RawQuery == "":
		return []string{flag, quoted(address)}
	default:
		return []string{flag, `"$` + variable + `"`}
	}
}

// withoutPassword is the address of a toxiproxy server as files may hold it.
func withoutPassword(address string) string {
	u, err := proxyURL(address)
	if err != nil || u.User == nil {
		return address
	}
	return u.Redacted()
}

// quoted writes a word so that a shell takes it as one.
func quoted(word string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`).MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// program is how this program was called, as far as it can be called so again. A test that plays scenarios is no doubletap.
func program() string {
	if strings.HasSuffix(os.Args[0], ".test") {
		return "doubletap"
	}
	if strings.Contains(filepath.ToSlash(os.Args[0]), "/go-build") {
		return "go run ./cmd/doubletap"
	}
	return quoted(os.Args[0])
}
