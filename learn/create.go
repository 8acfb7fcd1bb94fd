package learn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// createTries is how often a create is sent that has no effect: some are declined by chance, and others hold what is taken.
const createTries = 5

// prove sends one real create and looks where its markers arrive.
func (i *inquiry) prove(ctx context.Context) error {
	conditioned(i, drafting.Answer{})
	if i.db == nil || i.Dry {
		return nil
	}
	i.file.Draft.GuessTexts()
	for n := 1; ; n++ {
		answer, why, err := i.try(ctx)
		switch {
		case err != nil:
			return err
		case i.file.Proof != nil:
			if key := i.file.Draft.Key.Name; key != "" && key == i.asked {
				i.file.KeySeen = "a create without this header was refused, with an answer that names it"
			}
			if err := behind(ctx, i, answer); err != nil {
				return err
			}
			i.learn(ctx)
			if i.rowless {
				provedByKey(ctx, i)
			}
			return nil
		case moved(i, answer), anotherForm(i, answer, why), steady(i, answer), i.otherWay(why), conditioned(i, answer), asItsClient(i, answer, why):
			n = 0
		case !i.carriers.settled && n < createTries+i.carriers.tried && i.again(ctx, answer, why), lastPath(i, answer, why), lastly(i, answer, why):
		default:
			if i.naming.taken {
				drafting.Stepping(&i.file, http.StatusConflict)
			}
			signedIn := !i.login.failed && !slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed}, answer.Status)
			if signedIn && provedByKey(ctx, i) {
				return nil
			}
			i.unproven(why)
			return nil
		}
	}
}

// again says whether, and with what, a create is sent again that had no effect.
func (i *inquiry) again(ctx context.Context, answer drafting.Answer, why string) bool {
	if slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed}, answer.Status) && !invented(i) || answer.Status == 0 {
		return false
	}
	if _, lists := i.db.(*listing); lists && i.file.Listing == nil && answer.Status < 300 && answer.Done() { // whatever was created is not shown
		return false
	}
	with := "once more"
	switch answer.Status {
	case http.StatusPaymentRequired:
		why = "the next create may not be declined"
	case http.StatusTooManyRequests:
		letBe(ctx, answer.Wait)
	default:
		varied := otherwise(i, answer)
		if varied == "" {
			return false
		}
		with, i.declined = "with "+varied, nil
	}
	fmt.Fprintf(i.Said, "%s\ntrying %s\n", why, with)
	return true
}

// try sends one real create and looks where its markers arrive. Without a proof there is a reason.
func (i *inquiry) try(ctx context.Context) (drafting.Answer, string, error) {
	text, err := i.file.Trial()
	if err != nil {
		return drafting.Answer{}, err.Error(), nil
	}
	if err := i.askForSecrets(ctx); err != nil {
		return drafting.Answer{}, "", err
	}
	if missing := i.missing(); len(missing) > 0 {
		return drafting.Answer{}, "", runerror.Configf("a create needs credentials: set %s, in the environment or in .env beside the file, or send nothing with --dry", strings.Join(missing, " and "))
	}
	if proveSignature(i) {
		if text, err = i.file.Trial(); err != nil {
			return drafting.Answer{}, err.Error(), nil
		}
	}
	d, err := i.oneCreate(text)
	if err != nil {
		return drafting.Answer{}, "", err
	}
	answer, why, err := i.create(ctx, &d)
	if err != nil || why != "" {
		if answer.Refused() {
			i.declined = append(i.declined, answer)
		}
		return answer, why, err
	}
	i.file.Limit = answer.Limit
	i.timed = answer.TellsTime(time.Now())
	before := failedAlike(i, answer)
	if before != nil && !namesAnother(*before, answer) {
		told, why := refusedAlike(i, answer)
		return told, why, nil
	}
	created := answer.Created(i.file.Dialect)
	created.Marker = d.Markers()[i.file.Draft.Name][0]
	why = i.look(ctx, created)
	if p := i.file.Proof; before != nil && why == "" && !p.Named.Declared() { // a row that it does not name
		i.file.Proof, i.file.Children = nil, nil
		told, why := refusedAlike(i, answer)
		return told, why, nil
	}
	if refused := drafting.Failing(answer); why != "" && refused.Refused() {
		i.declined, i.failed = append(i.declined, refused), append(i.failed, refused)
		showRefusal(i, refused)
		return refused, fmt.Sprintf("the create was answered %d, no row has its marker, and %s of the answer says what went wrong: mend the sample body in the file, or what the target misses.", refused.Status, refused.DeniedAt), nil
	}
	return answer, why, nil
}

// showRefusal says how a create was answered that was not done, and takes from it what the next one may need.
func showRefusal(i *inquiry, told drafting.Answer) {
	fmt.Fprintf(i.Said, "it was answered %d: %s\n", told.Status, driver.Snippet(told.Written))
	heed(i, told.Written)
	i.versions.asked = i.versions.asked || asksForVersion(i.file.Draft, told, told.Written)
}

// oneCreate is the workload of one create with the text of a target file.
func (i *inquiry) oneCreate(text string) (driver.Config, error) {
	target, err := i.load(text, i.secret)
	if err != nil {
		return driver.Config{}, runerror.Configf("%s leads to a target file with mistakes:\n%w", i.file.Source, err)
	}
	plan := scenarios.NewPlan(engine.PlainCreates("init", 1, createTimeout).Scenario, 1)
	return driver.Config{
		Workload: driver.Workload{
			Target: target, Plan: plan, Names: driver.Names{Run: rundir.NewID(time.Now()), Scenario: plan.Scenario}, Base: time.Now(),
			Operations: []driver.Operation{{Name: i.file.Draft.Name, Operation: target.Operations[i.file.Draft.Name]}},
			Principals: principals(target),
		},
		Record: history.NewWriter(io.Discard),
	}, nil
}

// principals are the principals of a target.
func principals(t targets.Target) (all []driver.Principal) {
	for _, name := range slices.Sorted(maps.Keys(t.Principals)) {
		all = append(all, driver.Principal{Name: name, Values: t.Principals[name]})
	}
	return all
}

// createTimeout is how long the one create may take.
const createTimeout = 30 * time.Second

// unproven says why it is not known where rows are.
func (i *inquiry) unproven(why string) {
	fmt.Fprintf(i.Said, "not proven: %s\n", why)
	i.file.Doubt("Not proven: %s", why)
}

// secret is the value of a variable that the source or the environment has.
func (i *inquiry) secret(name string) (string, bool) {
	if value, ok := i.file.Draft.Given[name]; ok {
		return value, true
	}
	return i.Getenv(name)
}

// askForSecrets asks for the variables that a create needs and that are not set, if there is a terminal to ask on. The
// answers are written nowhere.
func (i *inquiry) askForSecrets(ctx context.Context) error {
	if !i.Asker.Asks() {
		return nil
	}
	given := map[string]string{}
	maps.Copy(given, i.file.Draft.Given)
	for _, name := range i.missing() {
		value, err := i.Asker.Secret(ctx, name+" for this one create, not shown and not kept:")
		if err != nil {
			return err
		}
		given[name] = value
	}
	i.file.Draft.Given = given
	return nil
}

// missing are the variables that a create needs and that are not set.
func (i *inquiry) missing() []string {
	return slices.DeleteFunc(slices.Clone(i.file.Draft.Needed), func(name string) bool {
		value, set := i.secret(name)
		return set && value != ""
	})
}

// create sends the one create, and says so first. Where nothing was created there is a reason.
func (i *inquiry) create(ctx context.Context, d *driver.Config) (drafting.Answer, string, error) {
	f := i.file.Draft
	fmt.Fprintf(i.Said, "sending one create%s: %s %s%s with a marker in %s\n", afterSteps(f), f.Method, d.Target.BaseURL, f.Path, strings.Join(f.Carriers(), ", "))
	sent, err := i.login.send(ctx, d, driver.Directly)
	i.login.failed = errors.Is(err, driver.ErrStep)
	var answer history.Attempt
	if len(sent) > 0 {
		answer = sent[0]
	}
	switch {
	case errors.Is(err, driver.ErrStep) && driver.Alive(ctx, d.Target) != nil:
		return drafting.Answer{}, "", runerror.Environment(fmt.Errorf("%w: %s", err, isItRunning(i)))
	case errors.Is(err, driver.ErrStep):
		return drafting.Answer{}, err.Error() + ".", nil
	case err != nil:
		return drafting.Answer{}, "", runerror.Config(err)
	case engine.AdviceOnTLS(answer.Error) != "":
		return drafting.Answer{}, "", runerror.Configf("%s: TLS does not come about: %s\n  give the authority with --ca FILE, and a certificate of yours with --cert and --key of a curl command; the target is always verified, as by curl without -k",
			d.Target.BaseURL, answer.Error)
	case answer.Error != "":
		return drafting.Answer{}, "", runerror.Environment(fmt.Errorf("%s gave no answer to a create (%s): %s", d.Target.BaseURL, answer.Error, isItRunning(i)))
	}
	i.took = max(i.took, (answer.End - answer.Start).Duration())
	told := answerOf(answer)
	if c := (drafting.Created{Status: told.Status}); (answer.Status < 200 || answer.Status > 299) && !c.Redirects() {
		showRefusal(i, told)
		return told, fmt.Sprintf("the create was answered %d%s%s.", answer.Status, refusal(told), missed(answer.Status, i.file.Services)), nil
	}
	return told, "", nil
}

// isItRunning asks the user of a target that gives no answer.
func isItRunning(i *inquiry) string {
	if i.Start != "" {
		return "is the target running? init starts nothing: --start says how runs do (--dry sends nothing)"
	}
	return "is the target running? (--dry sends nothing)"
}

// answerOf reads an answer; one that is no JSON names nothing.
func answerOf(a history.Attempt) drafting.Answer {
	told := drafting.Answer{Status: a.Status, Header: a.Header, Location: a.Header["Location"], Key: a.Key, Limit: drafting.LimitIn(a.Header, time.Now()), Wait: throttledFor(a)}
	if told.Written = a.Content; a.Content != "" {
		decoder := json.NewDecoder(strings.NewReader(a.Content))
		decoder.UseNumber()
		if decoder.Decode(&told.Body) != nil || decoder.More() {
			told.Body, told.Text = nil, a.Content+a.Digest
		}
		switch told.Body.(type) {
		case string, json.Number: // a word, which no pointer leads into
			told.Body, told.Text = nil, a.Content
		}
	}
	return told
}

// afterSteps says which requests go ahead of the create.
func afterSteps(d drafting.Draft) string {
	var before []string
	if len(d.Login) > 0 {
		before = append(before, "the login")
	}
	for _, step := range d.Prepare {
		before = append(before, step.Method+" "+step.Path)
	}
	if len(before) == 0 {
		return ""
	}
	return ", after " + strings.Join(before, " and ")
}

// whereTo says where an answer sends a browser; empty: nowhere.
func whereTo(c drafting.Created) string {
	if !c.Redirects() {
		return ""
	}
	return fmt.Sprintf(", which leads elsewhere (Location: %q)", engine.WithoutQuery(c.Location))
}

// refusal says what an answer may mean.
func refusal(a drafting.Answer) string {
	status := a.Status
	switch {
	case status < 400 && a.Location != "":
		return fmt.Sprintf(", which leads elsewhere (Location: %q), so --url or the path is wrong", engine.WithoutQuery(a.Location))
	case status == 401 || status == 403:
		return ", so the credentials are wrong or missing"
	case status == 404 && a.Body != nil:
		return ", so --url or the path is wrong, or the body names what is not there"
	case status == 404 || status == 405:
		return ", so --url or the path is wrong"
	case status < 400:
		return ", which leads elsewhere"
	case status < 500:
		return ", so the sample body is not what the target takes: mend it in the file"
	}
	return ", so the target is not well"
}

// missed names the variables of services that the target may miss; empty: it does not fail, or there are none.
func missed(status int, services []drafting.Service) string {
	var names []string
	for _, s := range services {
		names = append(names, s.Variable)
	}
	if status < 500 || len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(", or misses a service that it asks (%s), for which the sinks in the file can stand in", english.List(names, "and"))
}

// How often and how long is looked for the markers of a create: what is created may be written after its answer, and after
// the record of its key.
const (
	looks       = 5
	betweenLook = 300 * time.Millisecond
	moreLooks   = 7 // for what was accepted, and is done when it stands in another table
)

// look searches the database for what the create has left. Without a proof there is a reason.
func (i *inquiry) look(ctx context.Context, c drafting.Created) (why string) {
	begun := time.Now()
	var unsearched, first []string
	enough := func() bool { return i.file.Proof != nil && i.file.Proof.Exact && (!c.Accepted() || len(c.Later) > 0) }
	most := looks
	if c.Accepted() {
		most += moreLooks
	}
	// A row may be written behind the answer, and what was accepted may move from table to table until it is
	// done.
	for n := 0; n < most && !enough() && ctx.Err() == nil; n++ {
		if n > 0 {
			letBe(ctx, betweenLook)
		}
		if c.Landings, unsearched = i.db.Search(ctx, i.tables, c.Marker); len(c.Landings) == 0 {
			// The target may have made its tables with this create.
			newTables(ctx, i)
			c.Landings, unsearched = i.db.Search(ctx, i.tables, c.Marker)
		}
		for _, l := range c.Landings {
			if table := l.Table.FullName(); len(first) == 0 || n == 0 || i.file.Proof == nil {
				first = append(first, table)
			} else if !slices.Contains(first, table) && !slices.Contains(c.Later, table) {
				c.Later = append(c.Later, table)
			}
		}
		// How long it took is known by when the proof was last another one.
		before := i.file.Proof
		i.file.Proof, i.looked = i.file.Draft.Prove(c), n+1
		if p := i.file.Proof; p != nil && (before == nil || before.Table.FullName() != p.Table.FullName()) {
			i.waited = time.Since(begun)
		}
	}
	if len(unsearched) > 0 {
		i.file.Doubt("Whether the marker is elsewhere, too: these tables were not searched to their end: %s.", strings.Join(unsearched, ", "))
	}
	i.stored = drafting.Stored(i.file.Draft, c)
	p := i.file.Proof
	if p == nil {
		return fmt.Sprintf("the create was answered %d%s, and %s.", c.Status, whereTo(c), nowhere(ctx, i, c))
	}
	if other := slices.IndexFunc(c.Landings, func(l databases.Landing) bool { return len(l.Columns) == 0 }); other >= 0 && c.Landings[other].Table.FullName() != p.Table.FullName() {
		i.file.Doubt("Whether %s is what creates make: %s holds the text in other letters than it was sent, such as with a capital. If that is the created thing, let rows.query find it there.",
			p.Table.FullName(), c.Landings[other].Table.FullName())
	}
	fmt.Fprintf(i.Said, "it was answered %d; %s landed in %s.%s\n", c.Status, p.Text, inert.Comment(p.Table.FullName()), inert.Comment(p.Column))
	i.file.Success = drafting.InForm(i.file.Draft, *p, c)
	i.children(ctx)
	return ""
}

// nowhere says that what a create has left was not found.
func nowhere(ctx context.Context, i *inquiry, c drafting.Created) string {
	if l, isListing := i.db.(*listing); isListing {
		return l.why
	}
	for _, l := range c.Landings {
		if len(l.Columns) == 0 {
			return "its marker is in " + inert.Comment(l.Table.FullName()) + " in other letters than it was sent, as where the target writes names with a capital: send a create whose text is stored as it is"
		}
	}
	found := "its marker is in no text column of the database"
	if len(i.tables) == 0 {
		found = "the database has no tables"
	}
	return found + "; the target may not store the text, or --db is another database" + others(ctx, i)
}

// others names a few databases of the same server: the rows may be in one of them, which init does not look into unasked.
func others(ctx context.Context, i *inquiry) string {
	db, isDatabase := i.db.(*databases.Database)
	if !isDatabase {
		return ""
	}
	names := db.Beside(ctx)
	if len(names) == 0 {
		return ""
	}
	more := ""
	if most := 5; len(names) > most {
		names, more = names[:most], " and others"
	}
	return ": its server also has " + inert.Comment(strings.Join(names, ", ")) + more
}

// newTables reads the catalogue again: some services make their tables, or a part of one, when they first need them.
func newTables(ctx context.Context, i *inquiry) {
	if tables, err := i.db.Catalogue(ctx); err == nil {
		i.tables = tables
	}
}

// forChildren is how long rows that refer to the created one may come behind the answer: as long as a run waits for them.
const forChildren = 2 * time.Second

// children counts what else refers to the created row, when a job that writes some of it behind the answer has had its time.
func (i *inquiry) children(ctx context.Context) {
	p := i.file.Proof
	var implied []databases.Reference
	for _, t := range near(i) {
		var more []databases.Reference
		if t.FullName() != p.Table.FullName() {
			more = p.Implied(t)
			t.Refers, implied = append(slices.Clone(t.Refers), more...), append(implied, more...)
		}
		for _, r := range t.Refers {
			if _, has := p.Row[r.Theirs]; has && r.Table == p.Table.FullName() && t.FullName() != p.Table.FullName() {
				i.file.Children = append(i.file.Children, drafting.Child{Table: t, By: r, Implied: slices.Contains(more, r)})
			}
		}
	}
	if len(i.file.Children) == 0 {
		return
	}
	letBe(ctx, forChildren)
	eachChild(ctx, i, p.Row, func(c *drafting.Child, rows int) { c.Rows = rows })
	i.file.Children = slices.DeleteFunc(i.file.Children, func(c drafting.Child) bool { return c.Rows == 0 && slices.Contains(implied, c.By) })
	for n, rows := range orphans(ctx, i) {
		i.file.Children[n].Orphans = rows
	}
}

// eachChild counts what refers to a row, in one table after the other.
func eachChild(ctx context.Context, i *inquiry, row map[string]string, take func(c *drafting.Child, rows int)) {
	for n := range i.file.Children {
		c := &i.file.Children[n]
		if value, has := row[c.By.Theirs]; has && value != "" {
			if rows, err := i.db.Referring(ctx, c.Table, c.By, value); err == nil {
				take(c, rows)
			}
		}
	}
}

// proveSignature finds out how the recorded request was signed, with its secret. It reports whether that is known.
func proveSignature(i *inquiry) bool {
	if i.file.Draft.Sign == nil {
		return false
	}
	secret, _ := i.secret(strings.Trim(i.file.Draft.Sign.Secret, "${}"))
	return drafting.ProveSignature(&i.file.Draft, secret)
}
