package history

import (
	"fmt"
	"strings"
)

// Message is one thing that the target sent to a sink, which stands in place of another service: a request, a mail, or a span, on
// record before it is answered. Or it is a message that the target gave to a broker, which the sink has read there.
type Message struct {
	ID      string   `json:"id"` // unique in the scenario: the sink's name and a number
	Sink    string   `json:"sink"`
	At      Offset   `json:"at"`                // it was there, as far as it came
	Method  string   `json:"method,omitempty"`  // of a request; [Mail] for a mail, [Span] for a span, [Publish] for a message to a broker; empty: it was not understood
	Path    string   `json:"path,omitempty"`    // of a request, with its query; of a message to a broker the exchange, if it has such; secrets masked
	Key     string   `json:"key,omitempty"`     // idempotency key that the target sent with it, or the Message-ID of a mail, where the sink knows its keys; empty: none
	To      []string `json:"to,omitempty"`      // of a mail: its recipients, as the envelope says; not all of a great many; of a message to a broker the one stream, list, channel or routing key
	Subject string   `json:"subject,omitempty"` // of a mail, decoded; of a span its name; of a message to a broker its type
	Traces  []string `json:"traces,omitempty"`  // of a span: its trace, and those of its links, each as 32 hexadecimal digits; of a request or a message to a broker that of its traceparent
	Names   []string `json:"names,omitempty"`   // markers and references in it, however they were encoded
	Intent  string   `json:"intent,omitempty"`  // what the field says that the target file declares to name its intent; empty: none
	Status  int      `json:"status,omitempty"`  // that the sink answers with; 0: it gives no answer
	Acted   bool     `json:"acted,omitempty"`   // the sink did what was asked
	First   string   `json:"first,omitempty"`   // earlier message with the same key, whose answer this one gets again; empty: none
	Fault   string   `json:"fault,omitempty"`   // what the scenario made of the answer: lost, error or late, or crash, with which it ended; empty: nothing
	Content string   `json:"content,omitempty"` // the beginning of its body, secrets masked
	Length  int64    `json:"length,omitempty"`  // bytes of its body that came
	Error   string   `json:"error,omitempty"`   // why it was not understood, or not whole
}

// What says in one clause what a message was.
func (m Message) What() string {
	base, _, _ := strings.Cut(m.Path, "?")
	switch {
	case m.Method == "":
		return m.Error
	case m.Method == Span:
		return fmt.Sprintf("span %q", m.Subject)
	case m.Method == Publish:
		return m.published()
	case m.Method == Mail && len(m.To) > 1:
		return fmt.Sprintf("mail to %s and %d more, %q", m.To[0], len(m.To)-1, m.Subject)
	case m.Method == Mail:
		return fmt.Sprintf("mail to %s, %q", strings.Join(m.To, ""), m.Subject)
	default:
		return m.Method + " " + base
	}
}

// published says where a message to a broker went, and of what type it is.
func (m Message) published() string {
	text := "message to " + strings.Join(m.To, "")
	if m.Path != "" {
		text = fmt.Sprintf("message to %s (%s)", m.Path, strings.Join(m.To, ""))
	}
	if m.Subject != "" {
		text += fmt.Sprintf(", %q", m.Subject)
	}
	return text
}

// Printed is a line that a process of the target printed, on its standard output or its standard error.
type Printed struct {
	At       Offset `json:"at"`                 // it came to doubletap
	Instance int    `json:"instance,omitempty"` // that printed it, from 1, where there are several
	Text     string `json:"text"`               // secrets masked; a long line is cut
}

// The methods of messages that are no requests.
const (
	Mail = "MAIL"
	Span = "SPAN"
	// Publish is that of a message to a broker.
	Publish = "PUBLISH"
)
