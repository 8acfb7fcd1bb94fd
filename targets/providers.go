package targets

import (
	"embed"
	"path"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed providers/*.yaml
var providerFiles embed.FS

// Providers returns the names of the services whose answers a sink knows, sorted.
func Providers() []string {
	files, _ := providerFiles.ReadDir("providers") // which is there
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file.Name(), path.Ext(file.Name())))
	}
	return names
}

// provider is the sink of a service that is known: its answers, and where its keys are. False: there is none of this name.
func provider(name string) (sink HTTPSink, known bool) {
	text, err := providerFiles.ReadFile("providers/" + name + ".yaml")
	if err != nil || yaml.Unmarshal(text, &sink) != nil {
		return HTTPSink{}, false
	}
	return sink, true
}
