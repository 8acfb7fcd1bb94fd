package drafting

import "strings"

// Asked is how a target itself is asked for what a create has left.
type Asked struct {
	Path   string            // with the marker
	Header map[string]string // as in a target file
	Items  string            // JSON pointer to the list; empty: the answer is the list
	Absent []string          // statuses that say that there is nothing, or null
}

// Carried is what a carrier of the marker holds in a target file, and what follows the marker there in a [File.Trial].
func Carried(d Draft, carrier int) (template, mark string) {
	if d.Number != "" {
		return markerTemplate, ""
	}
	return d.marking(d.Texts[carrier]), markOf(carrier)
}

// doubtListing says what of the listing is not proven.
func doubtListing(f *File) {
	p := f.Proof
	switch {
	case len(p.Several.Rows) > 0:
		f.Doubt("Whether a verdict can be had: one create is listed as several entries, and each counts as a row. Ask the database (--db).")
	case p.Identity == "":
		f.Doubt("How the answer names the entry: nothing in it equals a member of the entry that reads like a key.")
	}
}

// writeListing writes how the target is asked for its rows.
func writeListing(f *File) {
	path := f.Listing.Path
	if f.Proof.ByReference {
		path = strings.ReplaceAll(path, markerTemplate, referenceTemplate)
	}
	f.remark("    ", "The rows are what the target itself lists: a listing that hides the second of two makes a duplicate invisible.")
	f.line("    rows: # one real create has proven it")
	f.line("      http: # a GET")
	f.line("        path: %s", literal(path))
	if len(f.Listing.Header) > 0 {
		f.line("        headers: %s", flow(f.Listing.Header))
	}
	if f.Listing.Items != "" {
		f.line("      items: %s", literal(f.Listing.Items))
	}
	if len(f.Listing.Absent) > 0 {
		f.line("      absent: [%s] # what says that there is nothing", strings.Join(f.Listing.Absent, ", "))
	}
	if f.Proof.Identity != "" {
		f.line("      identity: %s", literal(f.Proof.Identity))
	}
	writeContent(f)
}
