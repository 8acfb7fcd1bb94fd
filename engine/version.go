package engine

import (
	"cmp"
	"runtime/debug"
)

// module is the path of this module.
const module = "github.com/doubletap-harness/doubletap"

// version is set by the linker (make build); empty: the build information is asked.
var version string

// Version is doubletap's version, or the commit it was built from; "devel" if neither is known.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, dependency := range info.Deps { // a Go test of another module
		if dependency.Path == module {
			return cmp.Or(dependency.Version, "devel")
		}
	}
	return cmp.Or(info.Main.Version, "devel")
}
