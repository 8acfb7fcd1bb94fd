package drafting

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// thingHeader matches what headers are called that name the thing an answer is about, whatever it is: Content-Location (RFC 9110, section 8.7),
// OData-EntityId (OData 4.01, section 8.3.4), X-Resource-Id. The second part of headerOf is what a header calls it by itself: X-Order-Id.
var (
	thingHeader = regexp.MustCompile(`(?i)^content-location$|(^|-)(resource|entity|object|item|record)-?(id|uri|url)$`)
	headerOf    = regexp.MustCompile(`(?i)^(x-)?(.+)-(id|uuid|number|no|code|ref|reference|uri|url)$`)
)

// inHeaders is a header, beside Location, that has a value of a row: alone, or as what an address leads to. It is called as what names any
// thing, or as the table or the end of the path is; all others may have the value by chance.
func (c Created) inHeaders(l databases.Landing, d Draft, value string) contract.Identity {
	for _, name := range slices.Sorted(maps.Keys(c.Header)) {
		written := c.Header[name]
		of := headerOf.FindStringSubmatch(name)
		if value == "" || name == "Location" || !thingHeader.MatchString(name) && (of == nil || !namedAs(of[2], d.Path) && !namedAs(of[2], l.Table.Name)) {
			continue
		}
		if strings.TrimSpace(written) == value {
			return contract.Identity{Header: name}
		}
		if pattern := leading(written, value); pattern != "" {
			return contract.Identity{Header: name, Pattern: pattern}
		}
	}
	return contract.Identity{}
}
