package engine

import "runtime/debug"

// module is the path of this module.
const module = "github.com/doubletap-harness/doubletap"

// Version is doubletap's version, or the commit it was built from; "devel" if neither is known.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	version := info.Main.Version
	for _, dependency := range info.Deps { // a Go test of another module
		if dependency.Path == module {
			version = dependency.Version
		}
	}
	if version == "" {
		return "devel"
	}
	return version
}
