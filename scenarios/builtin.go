package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed library/*.yaml
var library embed.FS

// Builtin returns the library of scenario files that comes with doubletap.
func Builtin() fs.FS {
	files, err := fs.Sub(library, "library")
	if err != nil {
		panic(err) // library is a valid path
	}
	return files
}
