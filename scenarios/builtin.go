package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"sync"
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

// Library returns the scenarios of the library, in the order of their names. They are not held against the schema, which takes
// longer than all else that starting a command does: a test does it.
func Library() []File {
	files := slices.Clone(readLibrary())
	for i, f := range files {
		files[i].Source, files[i].Scenario = slices.Clone(f.Source), f.Scenario.clone()
	}
	return files
}

var readLibrary = sync.OnceValue(func() []File {
	files, err := loadFS(Builtin(), ".", nil)
	if err != nil {
		panic(fmt.Sprintf("scenarios: the library: %v", err))
	}
	return files
})
