package driver

import (
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// leaveCredential takes the headers that say who sends out of a request that is to have none.
func leaveCredential(request *targets.Rendered, one rendered, body string) {
	maps.DeleteFunc(request.Header, func(name, _ string) bool { return leaves(one, body, name) })
}

// leaves reports that a request with a body of this name is to be sent without a header.
func leaves(one rendered, body, header string) bool {
	return body == history.NoCredential &&
		slices.ContainsFunc(one.operation.Request.Credential, func(name string) bool { return strings.EqualFold(name, header) })
}
