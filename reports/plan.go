package reports

import (
	"fmt"
	"io"
	"time"
)

// Plan is what a run would send where, as --dry-run --json prints it.
type Plan struct {
	Version    int        `json:"version"`
	Tool       string     `json:"tool"`
	Target     string     `json:"target"`
	Operation  string     `json:"operation,omitempty"`
	NotPlayed  []string   `json:"not_played,omitempty"`
	Together   bool       `json:"together,omitempty"`
	BaseURL    string     `json:"base_url"`
	Instances  int        `json:"instances,omitempty"`
	Seed       uint64     `json:"seed"`
	Requests   int        `json:"requests"`
	Steps      int        `json:"steps"`
	RowsSource string     `json:"rows_source,omitempty"`
	Warnings   []string   `json:"warnings,omitempty"` // of the target file
	Limit      *PlanLimit `json:"rate_limit,omitempty"`
	Hunt       *PlanHunt  `json:"hunt,omitempty"`
	Scenarios  []Planned  `json:"scenarios"`
}

// PlanLimit is a target's rate limit, and how long a run takes because of it.
type PlanLimit struct {
	Requests int           `json:"requests"`
	Per      time.Duration `json:"per"`
	Takes    time.Duration `json:"takes"`
}

// PlanHunt is what a hunt goes on for.
type PlanHunt struct {
	For   time.Duration `json:"for,omitempty"`
	Until float64       `json:"until,omitempty"`
}

// Planned is what one scenario would send.
type Planned struct {
	Scenario      string `json:"scenario"`
	NotApplicable string `json:"not_applicable,omitempty"` // why
	Intents       int    `json:"intents"`
	Requests      int    `json:"requests"`
}

// PlanJSON writes a plan as indented JSON, with control characters as escapes, in one write.
func PlanJSON(w io.Writer, p Plan) error {
	p.Version = formatVersion
	text, err := indented(p)
	if err == nil {
		_, err = w.Write(escaped(text))
	}
	if err != nil {
		return fmt.Errorf("write JSON plan: %w", err)
	}
	return nil
}
