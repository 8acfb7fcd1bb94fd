package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"
)

// results are what one run has measured. A part that was not wanted is empty.
type results struct {
	settings settings
	command  string
	began    time.Time
	took     time.Duration
	senders  []string // doubletap first
	cells    map[spot]*cell
	checks   []check
	hidden   []hidden
	rates    []rate
	memory   *memory
	lanes    []lanesCost
}

// document puts the ratios first: absolute figures hold for one machine, and only beside each other.
func (r *results) document() document {
	d := document{title: "Benchmark", facts: r.facts()}
	for _, t := range slices.Concat(
		[]table{r.aimsTable()}, r.ratioTables(), r.costTables(), r.rateTables(), r.spreadTables(), r.duplicateTables(), r.checkTables(),
		r.sendsTables(), r.memoryTables(), r.laneTables(),
	) {
		if len(t.rows) > 0 {
			d.tables = append(d.tables, t)
		}
	}
	return d
}

// facts say what a reader has to know of machine, senders and target before the figures mean
// anything.
func (r *results) facts() []string {
	var versions []string
	for _, t := range tools() {
		if slices.Contains(r.senders, t.name) {
			versions = append(versions, t.name+" "+t.version)
		}
	}
	where := "in the process of doubletap, vegeta, barrier and the lanes"
	if r.settings.apart {
		where = "a process of its own"
	}
	facts := []string{
		fmt.Sprintf("%s, %d cores, %s/%s, %s; took %s", r.began.Format(time.DateOnly), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
			runtime.Version(), r.took.Round(time.Second)),
		"Command: `" + r.command + "`",
		"Senders, lanes and server share this machine and speak over loopback: what counts are the ratios.",
		"The server that the bursts go to is " + where + ".",
		fmt.Sprintf("Memory is collected as in the command (GOGC=%d), for all senders that are in this process.", seldom),
		"Senders take turns of at most 100 bursts. In the lanes with latency 4 bursts are under way at a time, of every sender alike; on the clean lane 1.",
		"barrier is N goroutines of our own, each with an open connection, that wait for one signal and then send, as hand-written tests do.",
		"kept barrier is the same with goroutines and connections that stay from burst to burst: the most that passes through a lane with an upstream tap. doubletap keeps connections too, as a hunt does, and has a history to write.",
		"vegeta, barrier and doubletap dial the same lanes. k6 and hey need an address: theirs are the same toxics without an upstream tap, one relay fewer, which is in their favour.",
		"k6, relayed is k6 where a relay that only copies stands behind those toxics, so that its requests are passed on as often as ours. What it has less than k6 is what a relay takes; what is left to doubletap is what the clients differ in.",
		"Connections are warm but for hey's, which is one process for each burst; starting it is in its duplicates per second and in no spread. So is starting k6, once in a turn.",
	}
	if len(versions) > 0 {
		facts = append(facts, "Processes: "+strings.Join(versions, ", "))
	}
	return facts
}

// aimsTable says which aims were reached, by which figures.
func (r *results) aimsTable() table {
	t := table{
		title: "Targets to reach",
		notes: []string{"NO: at least one of the figures misses its target; it is marked (short)."},
		heads: []string{"target", "reached", "what was measured"},
	}
	for _, a := range r.aims() {
		t.row(a.what, a.verdict(), a.reached)
	}
	return t
}

// rivals are the senders of this run that are not ours.
func (r *results) rivals() []string {
	return slices.DeleteFunc(slices.Clone(r.senders), func(name string) bool { return name == ours })
}

// ratioTables compare the senders by their ratios to doubletap, for each lane.
func (r *results) ratioTables() []table {
	var tables []table
	for _, w := range r.settings.lanes {
		t := table{
			title: "Spread, others to ours: " + w.words,
			notes: []string{"From the first to the last arrival of a burst, as p50 / p99. Above 1x doubletap is tighter."},
			heads: append([]string{"N"}, r.rivals()...),
		}
		found := table{
			title: "Duplicates found per second, ours to others: " + w.words,
			notes: []string{"With a check-then-insert of 200 µs. Above 1x doubletap finds more."},
			heads: append([]string{"N"}, r.rivals()...),
		}
		for _, n := range r.settings.members {
			mine := r.cells[spot{w.name, n, ours}]
			if mine == nil {
				continue
			}
			spreads, rates := []string{fmt.Sprint(n)}, []string{fmt.Sprint(n)}
			for _, other := range r.rivals() {
				theirs := r.cells[spot{w.name, n, other}]
				ratio := func(q float64) string {
					return times(float64(quantile(theirs.spreads, q)), float64(quantile(mine.spreads, q)))
				}
				spreads = append(spreads, ratio(0.5)+" / "+ratio(0.99))
				rates = append(rates, times(mine.perSecond(usualWindow), theirs.perSecond(usualWindow)))
			}
			t.row(spreads...)
			found.row(rates...)
		}
		tables = append(tables, t, found)
	}
	return tables
}

// costTables say what the bursts of the clean lane take of the machine: where it is busy all the time, a sender can only be quicker by taking less.
func (r *results) costTables() []table {
	t := table{
		title: "What a request takes of the processors: clean lane",
		notes: []string{"Of sender, lane and server together, while bursts are sent; starting k6 and hey is in it. At a busy share near 100 % the machine is the limit: who is quicker takes less of it for each request."},
		heads: []string{"N", "sender", "requests per second", "processors busy", "processor time per request"},
	}
	for _, w := range r.settings.lanes {
		if len(w.faults) > 0 {
			continue
		}
		r.eachCell(w, func(n int, sender string, c *cell) {
			if c.busy > 0 && c.counted > 0 {
				t.row(fmt.Sprint(n), sender, fmt.Sprintf("%.0f", float64(c.counted)/c.took.Seconds()),
					percent(c.busy.Seconds()/c.took.Seconds()/float64(runtime.NumCPU())), short(c.busy/time.Duration(c.counted)))
			}
		})
	}
	return []table{t}
}

// rateTables is the throughput, beside how it spread over the turns: a machine that is busy with
// something else shows there.
func (r *results) rateTables() []table {
	t := table{
		title: "Throughput",
		notes: []string{fmt.Sprintf("%d requests in each turn, %d at a time, a connection for each; medians of %d turns.", r.settings.attempts, workers, r.settings.turns)},
		heads: []string{"sender", "ours to this", "requests per second", "slowest turn", "fastest turn"},
	}
	for _, one := range r.rates {
		t.row(one.name, times(r.rates[0].median(), one.median()), fmt.Sprintf("%.0f", one.median()),
			fmt.Sprintf("%.0f", slices.Min(one.turns)), fmt.Sprintf("%.0f", slices.Max(one.turns)))
	}
	return []table{t}
}

// spreadTables are the absolute times of arrival.
func (r *results) spreadTables() []table {
	var tables []table
	for _, w := range r.settings.lanes {
		t := table{
			title: "Arrivals: " + w.words,
			notes: []string{"Spread is from the first to the last arrival of a burst, gap from the first to the second."},
			heads: []string{"N", "sender", "spread p50", "p90", "p99", "gap p50", "p90", "p99"},
		}
		r.eachCell(w, func(n int, sender string, c *cell) {
			cells := []string{fmt.Sprint(n), sender}
			for _, of := range [][]time.Duration{c.spreads, c.gaps} {
				for _, q := range []float64{0.5, 0.9, 0.99} {
					cells = append(cells, short(quantile(of, q)))
				}
			}
			t.row(cells...)
		})
		tables = append(tables, t)
	}
	return tables
}

// eachCell visits what was measured on a lane.
func (r *results) eachCell(w laneKind, visit func(n int, sender string, c *cell)) {
	for _, n := range r.settings.members {
		for _, name := range r.senders {
			if c := r.cells[spot{w.name, n, name}]; c != nil {
				visit(n, name, c)
			}
		}
	}
}

// duplicateTables say how many bursts would have made a duplicate, worked out from when requests
// arrived: so one sending tells it for every length of the race.
func (r *results) duplicateTables() []table {
	var tables []table
	for _, w := range r.settings.lanes {
		t := table{
			title: "Bursts with a duplicate: " + w.words,
			notes: []string{"By how long the check-then-insert takes: a burst is duplicated if its second check comes before the first insert. Found per second of sending: with 200 µs."},
			heads: []string{"N", "sender"},
		}
		for _, window := range windows() {
			t.heads = append(t.heads, short(window))
		}
		t.heads = append(t.heads, "found per second")
		r.eachCell(w, func(n int, sender string, c *cell) {
			cells := []string{fmt.Sprint(n), sender}
			for _, window := range windows() {
				cells = append(cells, percent(c.share(window)))
			}
			t.row(append(cells, fmt.Sprintf("%.1f", c.perSecond(usualWindow)))...)
		})
		tables = append(tables, t)
	}
	return tables
}

// checkTables is the proof of that reckoning, by a server that really races.
func (r *results) checkTables() []table {
	t := table{
		title: "Duplicates in a server that really checks and inserts",
		notes: []string{fmt.Sprintf("Bursts of %d through 100 ms with 50 ms jitter; between check and insert the handler sleeps %s, which takes longer the idler the process is. "+
			"By the stamps: what the cells above say for the time that it took.", checkMembers, short(usualWindow))},
		heads: []string{"sender", "bursts with a duplicate", "share", "median time from check to insert", "share by the stamps"},
	}
	for _, c := range r.checks {
		stamped := "–"
		if cell := r.cells[spot{"jitter", checkMembers, c.sender}]; cell != nil {
			stamped = percent(cell.share(c.window))
		}
		t.row(c.sender, fmt.Sprintf("%d of %d", c.duplicated, c.bursts), percent(float64(c.duplicated)/float64(max(c.bursts, 1))), short(c.window), stamped)
	}
	return []table{t}
}

// total sums a sender's cells.
func (r *results) total(sender string) (asked, counted int, differs []string) {
	names := map[string]bool{}
	for at, c := range r.cells {
		if at.sender == sender {
			asked, counted = asked+c.asked, counted+c.counted
			maps.Copy(names, c.differs)
		}
	}
	return asked, counted, slices.Sorted(maps.Keys(names))
}

// sendsTables say what was sent that nobody asked for.
func (r *results) sendsTables() []table {
	equal := table{
		title: "Hidden sends, and equal requests",
		notes: []string{"Hidden are requests that the server counted and that the sender was not asked for."},
		heads: []string{"sender", "asked for", "counted", "hidden", "headers that differ within a burst"},
	}
	for _, name := range r.senders {
		asked, counted, differs := r.total(name)
		if asked > 0 {
			equal.row(name, fmt.Sprint(asked), fmt.Sprint(counted), fmt.Sprint(counted-asked), strings.Join(append(differs, "")[:max(1, len(differs))], ", "))
		}
	}
	breaks := table{
		title: "Hidden sends when connections break",
		notes: []string{"Plain requests with an Idempotency-Key, one after the other; the server takes every second one and closes without an answer. barrier sends once."},
		heads: []string{"sender", "asked for", "counted", "hidden"},
	}
	for _, h := range r.hidden {
		breaks.row(h.sender, fmt.Sprint(h.asked), fmt.Sprint(h.counted), fmt.Sprint(h.counted-h.asked))
	}
	return []table{equal, breaks}
}

// memoryTables are the growth for each attempt, and memory over time.
func (r *results) memoryTables() []table {
	if r.memory == nil {
		return nil
	}
	each := table{
		title: "Memory of an attempt",
		notes: []string{fmt.Sprintf("Growth per attempt: %d held inside the server, which is in the same process; %d that have ended.", inFlight, r.settings.attempts)},
		heads: []string{"what", "heap", "stacks", "goroutines"},
	}
	add := func(what string, g growth) {
		each.row(what, kilo(g.heap), kilo(g.stacks), fmt.Sprintf("%.1f", g.goroutines))
	}
	add("in flight: driver, lane and server", r.memory.inFlight)
	add("of that, a plain connection to the server", r.memory.server)
	add("ended, until its scenario's run is over", r.memory.ended)
	soak := table{
		title: "Memory over time",
		notes: []string{fmt.Sprintf("Attempts without a pause, %d at a time, in scenarios of 500 on the same lanes.", workers)},
		heads: []string{"after", "attempts", "heap", "stacks", "goroutines"},
	}
	for _, m := range r.memory.soak {
		soak.row(m.after.Round(time.Second/10).String(), fmt.Sprint(m.attempts), kilo(float64(m.heap)), kilo(float64(m.stacks)), fmt.Sprint(m.goroutines))
	}
	return []table{each, soak}
}

// laneTables is the growth for each lane and each connection on it.
func (r *results) laneTables() []table {
	t := table{
		title: "Cost of a lane",
		notes: []string{"Per lane: its proxy, its upstream tap and their listeners; then one connection on each, with all ends of it that are in this process."},
		heads: []string{"lanes", "heap", "stacks", "goroutines", "heap of a connection", "stacks", "goroutines"},
	}
	for _, c := range r.lanes {
		cells := []string{fmt.Sprint(c.lanes)}
		for _, g := range []growth{c.idle, c.connected} {
			cells = append(cells, kilo(g.heap), kilo(g.stacks), fmt.Sprintf("%.1f", g.goroutines))
		}
		t.row(cells...)
	}
	return []table{t}
}
