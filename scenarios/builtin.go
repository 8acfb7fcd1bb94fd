package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var library embed.FS

// Builtin returns the library of scenario files that comes with doubletap.
func Builtin() fs.FS { return library }
