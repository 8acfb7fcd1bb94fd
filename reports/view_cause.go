package reports

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// causeView is findings that one defect explains, in words.
type causeView struct {
	ID        string
	Sentence  string // what happened, as one engineer tells another
	Under     string // the least under which it was seen
	Note      string // says of a control that failed what it means; empty: it is none
	First     findingView
	Count     int         // of its findings
	Scenarios []causeLine // in which it was seen, the simplest first
	Likely    *likelyView // nil: none of its findings is new
	cause     checker.Cause
}

// CauseSentences says of each cause of a report, in the order of [checker.Causes], what happened.
func CauseSentences(r checker.Report) []string {
	var list []string
	for _, c := range newView(r).Causes {
		list = append(list, c.Sentence)
	}
	return list
}

// causeLine is how often a cause was seen in a scenario.
type causeLine struct{ Scenario, Share, Numbers string }

// causeViews says causes in words. All are the findings of the view, which are in the order of the causes.
func causeViews(causes []checker.Cause, all []findingView) []causeView {
	var list []causeView
	at := 0
	for _, c := range causes {
		members := all[at : at+len(c.Members)]
		at += len(c.Members)
		v := causeView{ID: c.ID, First: members[0], Sentence: members[0].Sentence, Under: under(c, members[0].finding), Count: len(members), cause: c}
		if v.Under == "" && len(causes) > 1 && len(members[0].finding.Attempts) == 1 && members[0].isNew() && len(members[0].recorded.Requests) > 0 {
			v.Note = "Plain requests show it, each sent once and without a fault. Mend it first: the other findings may follow from it."
		}
		for _, s := range c.Scenarios {
			v.Scenarios = append(v.Scenarios, causeLine{clean(s.Scenario), fmt.Sprintf("%d of %s", s.Broke, english.Plural(s.Of, "intent")), numbers(s.Findings)})
		}
		list = append(list, v)
	}
	return list
}

// seenIn says how many findings there are, and in which scenarios.
func (c causeView) seenIn() string {
	const most = 5
	var parts []string
	for i, s := range c.Scenarios {
		if i == most {
			parts = append(parts, english.Plural(len(c.Scenarios)-most, "more scenario"))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", name(s.Scenario), s.Share))
	}
	return fmt.Sprintf("%s in %s", english.Plural(c.Count, "finding"), english.List(parts, "and"))
}

// under lists the circumstances of a cause.
func under(c checker.Cause, first checker.Finding) string {
	var parts []string
	for _, one := range c.Circumstances {
		if one == checker.LostAnswer && silent(c.Kind) {
			continue
		}
		parts = append(parts, circumstanceWords(checker.Circumstance(clean(string(one)))))
	}
	if text := faultWords(first); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// causeCount says how many causes the new findings have; empty: there are no new ones.
func causeCount(causes []causeView) string {
	n, findings := 0, 0
	for _, c := range causes {
		if c.First.isNew() {
			n++
			findings += c.Count
		}
	}
	if n == 0 {
		return ""
	}
	return english.Plural(n, "cause") + ", " + english.Plural(findings, "finding")
}

// numbers writes ids of findings in short: "F1–F12, F20".
func numbers(ids []string) string {
	const most = 4
	type stretch struct{ first, last string }
	var all []stretch
	before := 0
	for _, id := range ids {
		n, err := strconv.Atoi(strings.TrimPrefix(id, "F"))
		if last := len(all) - 1; err == nil && last >= 0 && n == before+1 {
			all[last].last = id
		} else {
			all = append(all, stretch{id, id})
		}
		before = n
	}
	var parts []string
	for i, s := range all {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-most))
			break
		}
		text := name(clean(s.first))
		if s.first != s.last {
			text += "–" + name(clean(s.last))
		}
		parts = append(parts, text)
	}
	return joined(parts, ", ")
}
