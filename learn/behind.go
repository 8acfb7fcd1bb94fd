package learn

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// behind looks for what becomes of a create that was accepted, where only a record of requests is known, by what names one: the row that is
// made when it is done may not have that. One more create has its marker in other members, too. Where that finds nothing, all is as it was.
func behind(ctx context.Context, i *inquiry, answer drafting.Answer) error {
	known := i.file
	more := known.Draft.Carrying()
	if answer.Status != http.StatusAccepted || known.Proof.Late || !drafting.Named(known.Proof.Text) || len(more) == 0 {
		return nil
	}
	looked, waited := i.looked, i.waited
	fmt.Fprintf(i.Said, "it was only accepted; trying with the marker in other members, too\n")
	i.file.Proof, i.file.Children, i.file.Doubts = nil, nil, slices.Clone(known.Doubts)
	i.file.Draft.Texts = append(slices.Clone(known.Draft.Texts), more...)
	_, _, err := i.try(ctx)
	if p := i.file.Proof; err != nil || p == nil || !p.Late {
		i.file, i.looked, i.waited = known, looked, waited
	} else if !slices.Contains(i.file.Differing, known.Proof.Text) {
		i.file.Differing = append(slices.Clone(i.file.Differing), known.Proof.Text) // with the same value, nothing more may be done
	}
	return err
}
