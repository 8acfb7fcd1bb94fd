package reports

import (
	"fmt"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// newMessagesView lays out what reached the sinks for one marker, by the clock of the finding.
func newMessagesView(e checker.RowEvidence, begun history.Offset) rowsView {
	v := rowsView{
		Title:   fmt.Sprintf("%s with the marker %s reached the sinks", english.Plural(len(e.Messages), "message"), name(e.Marker)),
		Columns: []string{"at", "message", "what", "key", "the sink"}, More: max(len(e.Messages)-mostRows, 0),
	}
	for _, m := range e.Messages[:min(len(e.Messages), mostRows)] {
		v.Rows = append(v.Rows, []string{duration(m.At - begun), name(m.ID), cell(what(m)), cell(m.Key), sinkDid(m)})
	}
	return v
}

// what says what a message was, a request with its query.
func what(m history.Message) string {
	if m.Path == "" || m.Method == history.Publish {
		return m.What()
	}
	return joined([]string{m.Method, m.Path}, " ")
}

// sinkDid says what a sink did with a message.
func sinkDid(m history.Message) string {
	did := "acted"
	switch {
	case m.First != "":
		did = "knew it from " + name(m.First)
	case !m.Acted:
		did = "did nothing"
	}
	switch {
	case m.Method == history.Publish:
		return did
	case m.Status == 0:
		return did + ", no answer"
	case m.Fault == "late":
		return fmt.Sprintf("%s, answered %d late", did, m.Status)
	default:
		return fmt.Sprintf("%s, answered %d", did, m.Status)
	}
}
