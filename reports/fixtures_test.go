package reports_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// report wraps results into a run as cmd does.
func report(verdict checker.Verdict, results ...checker.Result) checker.Report {
	return checker.Report{
		Version: 1, Run: "2026-03-04T050607Z-orders", Tool: "doubletap 0.1.0", Target: "orders", Seed: 42,
		Started: "2026-03-04T05:06:07Z", Dir: "runs/2026-03-04T050607Z-orders", BaseURL: "http://127.0.0.1:8080",
		Replay:  "doubletap replay runs/2026-03-04T050607Z-orders {}",
		Shrink:  "doubletap shrink runs/2026-03-04T050607Z-orders {}",
		Export:  "doubletap export runs/2026-03-04T050607Z-orders {}",
		Again:   "doubletap run --target orders.yaml --seed 42",
		Verdict: verdict, Results: results,
	}
}

func ms(n float64) history.Offset { return history.Offset(n * float64(time.Millisecond)) }

func overlapped(held, of, needed int) checker.Exercise {
	return checker.Exercise{
		Proof: "overlapped", Held: held, Of: of, Needed: needed,
		Text: "2 or more requests were inside the target at once",
	}
}

func replayed(held, of, needed int) checker.Exercise {
	return checker.Exercise{
		Proof: "replayed", Held: held, Of: of, Needed: needed,
		Text: "a finished request was sent again with the same key",
	}
}

func passed(name string, intents int) checker.Result {
	return checker.Result{
		Scenario: name, Verdict: checker.Pass, Intents: intents, Attempts: 3 * intents, Seed: 42,
		Exercise: []checker.Exercise{overlapped(intents, intents, intents), replayed(intents, intents, 1)},
		Findings: []checker.Finding{}, Outcomes: map[checker.Outcome]int{checker.Acknowledged: 3 * intents},
		Elapsed: ms(1312),
	}
}

func allPass() checker.Report {
	return report(checker.Pass, passed("double-click", 12), passed("lost-response", 300), passed("two-tabs", 2))
}

func row(id int, marker string) history.Row {
	return history.Row{"id": float64(id), "amount": float64(1200), "note": marker, "paid_at": nil}
}

// posted is an order as some attempts sent it.
func posted(key, content string, attempts ...string) checker.Request {
	r := checker.Request{Attempts: attempts, Method: "POST", Path: "/orders", Content: content, Header: map[string]string{
		"Authorization": "Bearer ***", "Content-Type": "application/json",
	}}
	if key != "" {
		r.Header["Idempotency-Key"] = key
	}
	return r
}

// lostThenRetried is the intent that a server executes twice: the answer to the first request is
// lost, and the retry meets no record of it.
func lostThenRetried() checker.Finding {
	const key, marker = "4be7f2c9-31c5-4e57-9f0e-55ad2f9a11aa", "dt7k2m9q4x8z1c5v3b"
	header := map[string]string{"Content-Type": "application/json", "Location": "/orders/18", "Date": "Wed, 04 Mar 2026 05:06:07 GMT"}
	return checker.Finding{
		ID: "F1", Kind: checker.Duplicate, Intent: "i007", Moment: history.T1Name,
		Detail:  "retry after a lost response",
		Promise: "one intent has at most one effect, however often its request arrives", Contract: "holds for every contract",
		Expected: "at most 1 row", Observed: "2 rows",
		Attempts: []history.Attempt{
			{
				ID: "i007.1", Intent: "i007", Lane: "lossy", Body: history.Original, Key: key, Start: ms(120), Wrote: ms(122),
				End: ms(420), Sent: 312, Error: "context deadline exceeded", ErrorKind: history.Timeout,
				Passage: &history.Passage{Opened: ms(121), Arrived: ms(150), Answered: ms(204), Up: 312, Down: 188, Status: 201},
			},
			{
				ID: "i007.2", Intent: "i007", Step: 2, Lane: "clean", Body: history.Original, Key: key, Start: ms(455), Wrote: ms(456),
				Replied: ms(497), End: ms(498), Sent: 312, Status: 201, Header: header, Complete: true,
				Content: `{"id":18,"note":"dt7k2m9q4x8z1c5v3b","amount":1200}`, Length: 52,
				Passage: &history.Passage{Opened: ms(455.5), Arrived: ms(470), Answered: ms(496), Up: 312, Down: 188, Status: 201},
			},
			{
				ID: "i007.3", Intent: "i007", Step: 3, Retry: 1, Lane: "clean", Body: history.Original, Key: key,
				Start: ms(520), Wrote: ms(521), Replied: ms(560), End: ms(561), Sent: 312, Status: 409, Header: header,
				Complete: true, Content: `{"error":"request in progress"}`, Length: 31,
				Passage: &history.Passage{Opened: ms(520), Arrived: ms(535), Answered: ms(559), Up: 312, Down: 120, Status: 409},
			},
			{
				ID: "i007.p1", Intent: "i007", Probe: true, Lane: "clean", Body: history.Original, Key: key, Start: ms(2900),
				Wrote: ms(2900.5), Replied: ms(2904), End: ms(2904.2), Sent: 312, Status: 201, Header: header, Complete: true,
				Content: `{"id":18,"note":"dt7k2m9q4x8z1c5v3b","amount":1200}`, Length: 52,
				Passage: &history.Passage{Opened: ms(2900), Arrived: ms(2901), Answered: ms(2903), Up: 312, Down: 188, Status: 201},
			},
		},
		Outcomes: []checker.Outcome{checker.Unknown, checker.Acknowledged, checker.InProgress, checker.Acknowledged},
		Rows: []checker.RowEvidence{{
			Body: history.Original, Marker: marker, Rows: []history.Row{row(17, marker), row(18, marker)},
		}},
		Requests: []checker.Request{posted(key, `{"amount":1200,"note":"dt7k2m9q4x8z1c5v3b"}`, "i007.1", "i007.2", "i007.3", "i007.p1")},
		Meanwhile: checker.Meanwhile{Printed: checker.Printed{Unlisted: 1, Lines: []history.Printed{
			{At: ms(151), Text: "POST /orders dt7k2m9q4x8z1c5v3b"}, {At: ms(203), Instance: 2, Text: "insert into orders \x1b[31m<b>`18`"},
		}}},
		Circumstances: []checker.Circumstance{checker.LostAnswer},
	}
}

func oneDuplicate() checker.Report {
	res := passed("lost-response", 50)
	res.Verdict, res.Failed, res.Findings = checker.Fail, 1, []checker.Finding{lostThenRetried()}
	res.Exercise = []checker.Exercise{
		{Proof: "response-lost", Held: 50, Of: 50, Needed: 50, Text: "the target answered and the client did not hear it"},
		{Proof: "committed-before-retry", Held: 48, Of: 50, Needed: 45, Text: "the row was there before the retry began"},
	}
	res.Warnings = []checker.Warning{{
		Kind: "ungraceful-loser", Text: "the loser of a race got a 500, though a retry resolved it",
		Intents: []string{"i003", "i031"},
	}}
	return report(checker.Fail, passed("double-click", 12), res, passed("two-tabs", 40))
}

// altered is a race of one key with two bodies: fresh keys, altered bodies and no key at once.
func altered() checker.Finding {
	f := checker.Finding{
		ID: "F1", Kind: checker.ReplayMismatch, Detail: "body", Intent: "i001", Moment: history.T2Name,
		Promise:  "every later answer repeats the first one",
		Contract: "replay: body: json, ignore: [/updated_at]", Expected: "the same answer", Observed: "another answer",
		Differs: []checker.Difference{
			{Attempt: "i001.2", Where: "/amount", First: "1200", Then: "9900"},
			{Attempt: "i001.2", Where: "status", First: "201", Then: "200"},
			{Attempt: "i001.3", Where: "Location", First: "/orders/17", Then: ""},
		},
		Rows: []checker.RowEvidence{
			{Body: history.Original, Marker: "dtaaaaaaaaaaaaaaaa", Rows: []history.Row{row(17, "dtaaaaaaaaaaaaaaaa")}},
			{Body: history.Altered, Marker: "dtbbbbbbbbbbbbbbbb"},
		},
		Requests: []checker.Request{
			posted("k1", `{"amount":1200,"note":"dtaaaaaaaaaaaaaaaa"}`, "i001.1"),
			posted("k1", `{"amount":9900,"note":"dtbbbbbbbbbbbbbbbb"}`, "i001.2"),
			posted("k2", `{"amount":1200,"note":"dtaaaaaaaaaaaaaaaa"}`, "i001.3"),
			posted("", `{"amount":1200,"note":"dtaaaaaaaaaaaaaaaa"}`, "i001.4"),
		},
		Circumstances: []checker.Circumstance{checker.OtherBody, checker.NoKey, checker.Overlapping, checker.OtherKey},
	}
	for i, body := range []string{history.Original, history.Altered, history.Original, history.Original} {
		start := ms(float64(40 + i))
		f.Attempts = append(f.Attempts, history.Attempt{
			ID: fmt.Sprintf("i001.%d", i+1), Intent: "i001", Lane: "clean", Body: body, Key: []string{"k1", "k1", "k2", ""}[i],
			Start: start, Wrote: start + ms(0.4), End: start + ms(11), Status: 201, Complete: true,
			Content: fmt.Sprintf(`{"id":17,"amount":%d}`, 1200+i/2),
		})
		f.Outcomes = append(f.Outcomes, checker.Acknowledged)
	}
	return f
}

func manyFindings(n int) checker.Report {
	burst, tabs := passed("burst", n), passed("two-tabs", n)
	for i := range n {
		f := lostThenRetried()
		f.ID, f.Intent = fmt.Sprintf("F%d", i+1), fmt.Sprintf("i%03d", i+1)
		if i%7 == 3 {
			f = altered()
			f.ID, f.Intent = fmt.Sprintf("F%d", i+1), fmt.Sprintf("i%03d", i+1)
			tabs.Findings = append(tabs.Findings, f)
			continue
		}
		if i%50 == 9 {
			f.Kind, f.Expected, f.Observed, f.Rows = checker.Unavailable, "a final answer within 12 retries with backoff", "409 twelve times", nil
		}
		for j := range f.Attempts {
			f.Attempts[j].Intent = f.Intent
		}
		burst.Findings = append(burst.Findings, f)
	}
	burst.Verdict, tabs.Verdict = checker.Fail, checker.Fail
	burst.Failed, tabs.Failed = len(burst.Findings), len(tabs.Findings)
	return report(checker.Fail, burst, tabs)
}

func inconclusive() checker.Report {
	res := passed("double-click", 12)
	res.Verdict = checker.Inconclusive
	res.Reasons = []string{"the requests of most intents came one after the other, so no race was run"}
	res.Exercise = []checker.Exercise{overlapped(2, 12, 10), replayed(12, 12, 12)}
	return report(checker.Inconclusive, res, passed("lost-response", 50))
}

func targetDied() checker.Report {
	res := passed("server-restart", 12)
	res.Verdict, res.Exercise = checker.Broken, []checker.Exercise{overlapped(0, 12, 10)}
	res.Reasons = []string{
		"the target stopped taking connections 812ms into the run: dial tcp 127.0.0.1:8080: connect: connection refused",
		"the snapshot T1 was not taken",
	}
	return report(checker.Broken, passed("double-click", 12), res)
}

func notApplicable() checker.Report {
	res := checker.Result{
		Scenario: "key-expiry", Verdict: checker.NotApplicable, Seed: 42,
		Reasons: []string{"the contract promises no retention, so there is no expiry to test"},
	}
	return report(checker.Pass, passed("double-click", 1200), res)
}

// neverFinished is a run that was stopped with everything in the air.
func neverFinished() checker.Report {
	f := lostThenRetried()
	f.Kind, f.Detail, f.Moment = checker.Unavailable, "", ""
	f.Attempts = []history.Attempt{
		{ID: "i007.1", Lane: "clean", Body: history.Original, Key: "k", Start: ms(3), Wrote: ms(4)},
		{ID: "i007.2", Lane: "clean", Body: history.Original, Key: "k"},
		{
			ID: "i007.3", Lane: "slow", Body: history.Original, Key: "k", Start: ms(5), Wrote: ms(6), End: ms(30), ErrorKind: history.Reset,
			Passage: &history.Passage{Arrived: ms(8), Answered: ms(80), Status: 201, Up: 312, Down: 100},
		},
		{
			ID: "i007.4", Lane: "slow", Body: history.Original, Key: "k", Start: ms(5), Wrote: ms(6), End: ms(12), Status: 201,
			ErrorKind: history.Truncated, Passage: &history.Passage{Arrived: ms(8), Answered: ms(10), Status: 201, Up: 312, Down: 100},
		},
		{ID: "i007.5", Lane: "gone", Body: history.Original, Key: "k", Start: ms(6), End: ms(7), ErrorKind: history.Refused},
	}
	f.Outcomes, f.Requests = []checker.Outcome{checker.Unknown, checker.Unknown, checker.Unknown}, nil
	f.Rows = []checker.RowEvidence{{Body: history.Original, Marker: "dt7k2m9q4x8z1c5v3b"}}
	res := passed("stopped", 12)
	res.Verdict, res.Failed, res.Findings = checker.Fail, 1, []checker.Finding{f}
	return report(checker.Fail, res)
}

// burst is a race of n copies of which the third and the last were executed.
func burst(n int) checker.Report {
	f := lostThenRetried()
	f.Detail, f.Attempts, f.Outcomes, f.Moment, f.Requests[0].Attempts = "", nil, nil, history.T2Name, nil
	f.Circumstances = []checker.Circumstance{checker.Overlapping}
	for i := range n {
		a := history.Attempt{
			ID: fmt.Sprintf("i007.%d", i+1), Intent: "i007", Lane: "clean", Body: history.Original, Key: "k", Start: ms(30 + float64(i)/50),
			Wrote: ms(31), End: ms(52 + float64(i)), Status: 409, Complete: true, Content: `{"error":"request in progress"}`,
			Passage: &history.Passage{Arrived: ms(32 + float64(i)/10), Answered: ms(51 + float64(i)), Status: 409, Up: 300, Down: 90},
		}
		outcome := checker.InProgress
		if i == 2 || i == n-1 {
			a.Status, a.Passage.Status, a.Content, outcome = 201, 201, fmt.Sprintf(`{"id":%d}`, 17+i/3), checker.Acknowledged
		}
		f.Attempts, f.Outcomes = append(f.Attempts, a), append(f.Outcomes, outcome)
		f.Requests[0].Attempts = append(f.Requests[0].Attempts, a.ID)
	}
	res := passed("burst", 12)
	res.Summary = "A client sends the same request many times at once,\nas a double click or a retrying proxy does.\n"
	res.Verdict, res.Failed, res.Findings = checker.Fail, 1, []checker.Finding{f}
	return report(checker.Fail, res)
}

// crowded is a run with blocked writers and with sweeps.
func crowded() checker.Report {
	gate, mute, shut, sweep, still := passed("burst-write-gate", 12), passed("gate-on-sqlite", 12), passed("gate-that-failed", 1), passed("sweep", 60), passed("sweep-of-one", 1)
	gate.Writers = &checker.Writers{Held: 11, Of: 12, Tables: []string{"orders", "keys"}, Waiting: []int{0, 7, 9, 10, 10}}
	mute.Writers = &checker.Writers{Held: 1, Of: 1, Tables: []string{"orders"}}
	shut.Writers = &checker.Writers{Of: 3}
	sweep.Phases = []checker.Phase{
		{Answer: "in-progress", From: ms(0.04), To: ms(21.449), Count: 31},
		{Answer: "acknowledged with another thing", From: ms(22), To: ms(22), Count: 1},
		{Answer: "acknowledged with the same thing", From: ms(22.05), To: ms(60), Count: 28},
	}
	for n := range 12 {
		still.Phases = append(still.Phases, checker.Phase{Answer: fmt.Sprintf("rejected (status %d)", 400+n), From: ms(float64(n)), To: ms(float64(n)), Count: 1})
	}
	return report(checker.Pass, gate, mute, shut, sweep, still)
}

// registered is a run with one of each: what is known, what is new beside it, and what is mended.
func registered() checker.Report {
	const link = "https://tracker.example.com/7"
	expected, both, gone := passed("burst-same-key", 12), passed("lost-response", 50), passed("two-tabs", 40)
	f := lostThenRetried()
	f.ID, f.Intent, f.Known = "F2", "i003", link
	expected.Verdict, expected.Failed, expected.Findings = checker.Known, 1, []checker.Finding{f}
	old, fresh := altered(), lostThenRetried()
	old.ID, old.Known = "F3", "https://tracker.example.com/8"
	both.Verdict, both.Failed, both.Findings = checker.Fail, 2, []checker.Finding{fresh, old}
	both.Warnings = []checker.Warning{{Kind: "known-not-seen", Text: "a known unavailable was not seen (https://tracker.example.com/9)"}}
	gone.Verdict = checker.Mended
	gone.Reasons = []string{"a known duplicate was not seen in 40 exercised rounds: take it out of the register (" + link + ")"}
	return report(checker.Fail, expected, both, gone)
}

// allKnown is a run in which everything that broke is known.
func allKnown() checker.Report {
	r := registered()
	r.Verdict, r.Results = checker.Pass, []checker.Result{r.Results[0], passed("double-click", 12)}
	r.Results[0].Findings[0].ID = "F1"
	return r
}

// mended is a run in which nothing broke, though a bug is known.
func mended() checker.Report {
	r := registered()
	r.Verdict, r.Results = checker.Mended, []checker.Result{r.Results[2], passed("double-click", 12)}
	return r
}

// excused is a run in which all that happened twice was allowed by the contract.
func excused() checker.Report {
	crash := passed("crash-sweep", 30)
	f := lostThenRetried()
	f.Excused = "after_crash: at-least-once"
	crash.Findings = []checker.Finding{f}
	return report(checker.Pass, crash, passed("double-click", 12))
}

// nasty is everything that a target, a database or a file name might put into a report.
const nasty = "a\x1b[31mred\x1b]0;title\x07 \u009b2J \x00 \ufffe |pipe| `tick` ```fence``` <b>&amp;]]> \"q\" 'q' " +
	"[x](javascript:1) ![i](https://evil.example/x.png) @team #1 $x$ \u202egnp.exe\u202c \xff\xfe 🧑‍🚀 日本語 e\u0301 \r\n## heading\n- item"

func hostile() checker.Report {
	f := altered()
	f.Kind, f.Detail, f.Promise, f.Contract, f.Expected, f.Observed = nasty, nasty, nasty, nasty, nasty, nasty
	f.Differs[0] = checker.Difference{Attempt: nasty, Where: nasty, First: nasty, Then: nasty}
	f.Attempts[1].ID, f.Attempts[1].Lane, f.Attempts[1].Content, f.Attempts[1].Key = nasty, nasty, nasty, nasty
	f.Attempts[1].Header = map[string]string{nasty: nasty, "Location": nasty}
	f.Requests[0] = checker.Request{Attempts: []string{"i001.1"}, Method: nasty, Path: nasty, Header: map[string]string{nasty: nasty}, Content: nasty}
	f.Requests[1] = posted(strings.ReplaceAll(nasty, "\r\n", ""), nasty+" ***", nasty)
	f.Attempts[2].ErrorKind, f.Attempts[2].Error, f.Attempts[2].Complete = history.OtherError, nasty, false
	f.Rows = []checker.RowEvidence{{Body: nasty, Marker: nasty, Rows: []history.Row{
		{nasty: nasty, "id": nasty, "note": strings.Repeat("long ", 40), "zalgo": "z" + strings.Repeat("\u0335", 50)},
	}}}
	res := passed(nasty, 12)
	res.Verdict, res.Failed, res.Findings = checker.Fail, 1, []checker.Finding{f}
	res.Reasons, res.Warnings = []string{nasty}, []checker.Warning{{Kind: nasty, Text: nasty, Intents: []string{nasty}}}
	res.Exercise[0].Proof, res.Exercise[0].Text, res.Exercise[0].Held = nasty, nasty, 1
	res.Writers = &checker.Writers{Held: 1, Of: 1, Tables: []string{nasty}}
	r := report(checker.Fail, res)
	r.Target, r.Dir, r.Run, r.Again, r.Replay = nasty, nasty, nasty, "doubletap run "+nasty, "doubletap replay {} "+nasty
	return r
}

// fixtures are the reports that every renderer has a golden file for.
func fixtures() map[string]checker.Report {
	return map[string]checker.Report{
		"pass": allPass(), "duplicate": oneDuplicate(), "many": manyFindings(500), "inconclusive": inconclusive(),
		"broken": targetDied(), "not-applicable": notApplicable(), "never-finished": neverFinished(), "hostile": hostile(),
		"empty": report(checker.Inconclusive), "burst": burst(40), "registered": registered(), "known": allKnown(), "excused": excused(), "mended": mended(),
	}
}
