package sut

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// longestExpiry is how long a run waits for a key to be forgotten.
const longestExpiry = time.Minute

// outlastsWork is how long a key must be remembered for its request to be repeated while and after long work.
const outlastsWork = 30 * time.Second

// LeavesOut says why a scenario is not played against the system; empty: it is. The reason
// is printed, so it names the line of the target file. A scenario that cannot show
// anything is left out rather than played: its pass would mean nothing.
func (s *System) LeavesOut(scenario scenarios.Scenario) string {
	if why := lacks(s, scenario); why != "" {
		return why
	}
	limit, atOnce := s.Target.RateLimit, scenarios.NewPlan(scenario, 0).AtOnce()
	if limit != nil && atOnce > limit.Requests {
		return fmt.Sprintf("it sends %d requests at once, and the target lets %d through (rate_limit)", atOnce, limit.Requests)
	}
	return ""
}

// lacks says which of a scenario's needs the system does not meet; empty: none.
func lacks(s *System, scenario scenarios.Scenario) string {
	if livesWithoutStore(s, scenario) {
		return "the target lives without its store on purpose (contract.store.on_failure: fail-open)"
	}
	unmet := unmetBy(s, scenario)
	for _, need := range scenario.Needs {
		if why := unmet[need].why; why != "" {
			return why
		}
	}
	return ""
}

// Untried says what a scenario would try that is left out, where lines of the target file would let it; nil: it is played, or what is
// promised leaves nothing to try.
func Untried(s *System, scenario scenarios.Scenario) *checker.Untried {
	if livesWithoutStore(s, scenario) {
		return nil
	}
	unmet := unmetBy(s, scenario)
	var first *checker.Untried
	for _, need := range scenario.Needs {
		lack, lacks := unmet[need]
		switch {
		case !lacks:
		case lack.lets.Line == "":
			return nil
		case first == nil:
			first = &lack.lets
		}
	}
	return first
}

// livesWithoutStore reports that a scenario is about a store which the target promises to live without.
func livesWithoutStore(s *System, scenario scenarios.Scenario) bool {
	return scenario.TouchesStore() && s.Target.Contract.Store.OnFailure == contract.FailOpen
}

// lack is a need that a system does not meet.
type lack struct {
	why  string
	lets checker.Untried // what lets it be met; without a line: nothing does
}

// unmetBy is what the system does not meet of what a scenario may need.
func unmetBy(s *System, scenario scenarios.Scenario) map[scenarios.Need]lack {
	all := unmet(s)
	if why := lacksLink(s, scenario); why != "" {
		all[scenarios.NeedsLink] = lack{why, letsLink(s, scenario)}
	}
	return all
}

// unmet says for every need but links why the system does not meet it, where it does not. The order
// of the parts matters, and so does that of the lines in each: the first line of a need that is not
// met gives its reason, so what no line of the file mends comes first.
func unmet(s *System) map[scenarios.Need]lack {
	n := &needs{
		system: s, promise: s.Target.Contract, key: s.Operation().Key, natural: len(s.Target.Contract.NaturalKey) > 0,
		marked: s.Target.CarriesMarker(s.Operation().Operation), all: map[scenarios.Need]lack{},
	}
	n.keys()
	n.bodies()
	n.memory()
	n.gates()
	n.processes()
	n.work()
	n.effects()
	n.removal()
	n.others()
	return n.all
}

// needs collects what a system lacks.
type needs struct {
	system  *System
	promise contract.Contract
	key     targets.Key
	natural bool // the contract has a natural key
	marked  bool // requests carry the marker themselves
	all     map[scenarios.Need]lack
}

// but notes a need that is not met, and the line of a target file that would mend it. The first
// reason of a need stays.
func (n *needs) but(met bool, need scenarios.Need, why string, lets checker.Untried) {
	if _, lacked := n.all[need]; !met && !lacked {
		n.all[need] = lack{why, lets}
	}
}

// unless notes a need that is not met, and that no line of a file mends.
func (n *needs) unless(met bool, need scenarios.Need, why string) {
	n.but(met, need, why, checker.Untried{})
}

// byLine is what a line of the target file would let a run try. A design has no file: what it does
// not have, no line gives it.
func (n *needs) byLine(what checker.Family, line string) checker.Untried {
	if n.system.BuiltIn() {
		return checker.Untried{}
	}
	return checker.Untried{What: what, Line: line}
}

// keys is about what repeats a request, and about the form of keys.
func (n *needs) keys() {
	s, promise, key, natural := n.system, n.promise, n.key, n.natural
	const noKey = "the operation takes no idempotency key"
	hasKey := key.In != contract.KeyNowhere
	n.unless(hasKey || natural, scenarios.NeedsRepeatable, "the contract has neither an idempotency key nor a natural key, so repeated requests are different intents")
	for _, need := range []scenarios.Need{scenarios.NeedsKey, scenarios.NeedsOptionalKey, scenarios.NeedsChosenKey, scenarios.NeedsFreeKey, scenarios.NeedsCasedKey, scenarios.NeedsHeaderKey, scenarios.NeedsSpacedKey, scenarios.NeedsExpiry, scenarios.NeedsOperations} {
		n.unless(hasKey, need, noKey)
	}
	n.unless(key.Required, scenarios.NeedsRequiredKey, "the operation requires no idempotency key")
	n.unless(!key.Required, scenarios.NeedsOptionalKey, "the operation requires an idempotency key")
	for _, need := range []scenarios.Need{scenarios.NeedsChosenKey, scenarios.NeedsFreeKey} {
		n.unless(len(key.Issued) == 0, need, "the target hands its keys out (key.issued), so that clients do not choose them")
	}
	n.unless(key.Format == contract.AnyText, scenarios.NeedsFreeKey, "only a UUID is a key of this operation (key.format)")
	n.unless(key.Like == "", scenarios.NeedsFreeKey, "only what looks like key.like is a key of this operation")
	n.unless(!key.FoldCase, scenarios.NeedsCasedKey, "keys that differ in case are the same key to this operation (key.fold_case)")
	n.unless(key.In == contract.KeyInHeader, scenarios.NeedsHeaderKey, "the key stands in no header (key.in)")
	n.unless(s.Target.Protocol != targets.HTTP2, scenarios.NeedsHeaderKey, "the target speaks HTTP/2, where names of headers are in lower case")
	n.unless(key.Quoted || key.In != contract.KeyInHeader, scenarios.NeedsSpacedKey, "a space at the end of a plain header is cut off on its way")
	n.unless(key.In != contract.KeyInPath, scenarios.NeedsLooseKey, "the key stands in the path, where it cannot be left out or blank (key.in: path)")
	n.unless(!s.Operation().Rows.ByKey(), scenarios.NeedsMarkerRows, "rows are asked for with :key (rows.query), so that rows are those of one key: what is made with another one, or without, is not found")
	n.unless(natural, scenarios.NeedsNaturalKey, "the contract declares no natural key, so different keys are different intents")
	n.unless(len(promise.NaturalKeyIgnores) > 0, scenarios.NeedsNaming, "the contract does not say that another spelling of the natural key is the same (natural_key_ignores)")
	n.unless(s.Target.Renames(s.Operation().Operation), scenarios.NeedsNaming, "the natural key is no text with a letter in a JSON body, or the row query finds it in one spelling only (where lower(name) = lower(:marker) ignores the case, and trim blanks)")
	n.unless(!natural, scenarios.NeedsNoNatural, "the contract declares a natural key, so equal bodies are one intent")
	n.unless(n.marked, scenarios.NeedsNoNatural, "its requests do not carry the marker but change what was prepared with it: two intents about one thing cannot be told apart")
	n.unless(promise.ContentWindow == 0, scenarios.NeedsNoNatural, "the contract takes equal bodies for one intent for a while (content_window)")
}

// sameIntent is about a variant of the body, which its natural key can make another intent.
func (n *needs) sameIntent(need scenarios.Need, which targets.Variant, changes map[string]any, body, so string) {
	same := !n.system.Target.IsAnotherIntent(n.system.Operation().Operation, which)
	n.unless(same || len(changes) > 0, need, fmt.Sprintf("the target file has no %s (%s:), and none could be of the same intent: {{.Intent.Marker}}, which is another one in each body, stands at contract.natural_key", body, which))
	n.unless(same, need, "the "+body+" has another value at contract.natural_key, and so is another intent"+so)
}

// bodies is about other bodies, and other spellings of one.
func (n *needs) bodies() {
	s, promise := n.system, n.promise
	n.sameIntent(scenarios.NeedsAlter, targets.Altered, s.Operation().Alter, "altered body", "")
	n.but(len(s.Operation().Alter) > 0, scenarios.NeedsAlter, "the target file does not say what an altered body changes (alter:)", n.byLine(checker.OtherBodies, "alter"))
	n.sameIntent(scenarios.NeedsInvalid, targets.Invalid, s.Operation().Invalid, "invalid body", ", which nothing corrects")
	n.but(len(s.Operation().Invalid) > 0, scenarios.NeedsInvalid, "the target file does not say what makes a body invalid (invalid:)", n.byLine(checker.CorrectedForms, "invalid"))
	kind, members := s.Operation().Request.Payload()
	n.unless(kind == targets.JSONPayload || kind == targets.NoPayload, scenarios.NeedsSameJSON, "the operation's requests carry a "+string(kind)+", and no JSON that could be spelled in another way")
	sameJSON := promise.Fingerprint.Mode == contract.FingerprintJSON || promise.Fingerprint.Mode == contract.FingerprintFields
	n.unless(sameJSON, scenarios.NeedsSameJSON, "the contract does not say that the same JSON in another spelling is the same request (fingerprint.mode)")
	n.unless(len(members) > 0, scenarios.NeedsSameJSON, "the operation's requests have no body")
	n.unless(holdsWholeNumber(members), scenarios.NeedsNumbers, "the operation's body holds no whole number")
}

// memory is about how long a key is known.
func (n *needs) memory() {
	promise, natural := n.promise, n.natural
	n.unless(!natural, scenarios.NeedsExpiry, "the contract declares a natural key, which is not forgotten")
	n.unless(n.marked || promise.Expiry.Then == contract.ExpiryReject, scenarios.NeedsExpiry, "its requests do not carry the marker but change what was prepared with it: a second intent about it cannot be told from the first")
	n.but(promise.Expiry.After > 0, scenarios.NeedsExpiry, "the contract does not say when a key is forgotten (expiry.after)", n.byLine(checker.ForgottenKeys, "contract.expiry"))
	n.unless(time.Duration(promise.Expiry.After) <= longestExpiry, scenarios.NeedsExpiry, "keys are forgotten after "+promise.Expiry.After.String()+", which is longer than a run waits")
	n.unless(natural || promise.Expiry.After == 0 || time.Duration(promise.Expiry.After) >= time.Second, scenarios.NeedsMemory, "keys are forgotten after "+promise.Expiry.After.String()+": no later retry has to be known")
}

// gates is about another way to make the same, and about writers that can be held back.
func (n *needs) gates() {
	s := n.system
	holds := n.byLine(checker.HeldWrites, "database.write_gate")
	if s.RowsSource() == "" || s.Target.AsksItself() {
		holds = checker.Untried{}
	}
	n.unless(len(s.Ways) > 0, scenarios.NeedsWays, "the target file names no other way to make the same, with a key that the client chooses (same_as)")
	n.unless(s.options.DB == nil, scenarios.NeedsWriteGate, "the caller opened the database, so writes to it are not held back")
	n.but(s.Target.Database.WriteGate != nil, scenarios.NeedsWriteGate, "the target file names no table to which writes may be held back (database.write_gate)", holds)
}

// processes is about processes that doubletap starts, one or several.
func (n *needs) processes() {
	s, key := n.system, n.key
	several := n.byLine(checker.SeveralServers, "process.instances, or instances")
	if s.BuiltIn() {
		several = checker.Untried{What: checker.SeveralServers, Line: "--target " + ServedPrefix + "NAME --instances 2"}
	}
	n.unless(len(key.Issued) == 0, scenarios.NeedsProcess, "keys that the target has handed out (key.issued) may be gone with its process, which is no broken promise")
	n.but(s.server == nil, scenarios.NeedsProcess, "the target runs inside doubletap; "+ServedPrefix+" in place of "+BuiltinPrefix+" makes it a process that can be killed", checker.Untried{What: checker.Crashes, Line: "--target " + ServedPrefix + "NAME"})
	n.but(s.Target.Process != nil, scenarios.NeedsProcess, "doubletap did not start the target (no process in the target file), so it cannot kill it and start it again", n.byLine(checker.Crashes, "process"))
	n.but(s.server == nil, scenarios.NeedsInstances, "the target runs inside doubletap; "+ServedPrefix+" in place of "+BuiltinPrefix+" and --instances 2 make it two processes behind a balancer", several)
	n.but(s.Target.Process != nil || len(s.Target.Instances) > 0, scenarios.NeedsInstances, "doubletap did not start the target (no process in the target file), so it does not know which instance gets a request", several)
	n.but(max(s.Instances(), len(s.Target.Instances)) > 1, scenarios.NeedsInstances, "one instance of the target is started (process.instances, or --instances)", several)
}

// work is about requests that can be made to take long.
func (n *needs) work() {
	s, promise, natural := n.system, n.promise, n.natural
	n.unless(len(promise.Ack.Accepted.Statuses) == 0, scenarios.NeedsWork, "what the contract accepts to be done later (ack.accepted) does not make its request take long")
	n.unless(natural || promise.Expiry.After == 0 || time.Duration(promise.Expiry.After) >= outlastsWork, scenarios.NeedsWork, "keys are forgotten after "+promise.Expiry.After.String()+", which may be before long work is done")
	_, linked := s.Target.Links[databaseLink]
	n.but(linked || s.Operation().Work != nil, scenarios.NeedsWork, "nothing makes a request take long: the target file says not how (work), and no link leads to its database", n.byLine(checker.LongWork, "work"))
}

// effects is about what is counted at sinks.
func (n *needs) effects() {
	s := n.system
	held := slices.ContainsFunc(s.Operation().Seen(), func(e contract.Effect) bool { return s.Target.Sinks[e.Seen].Answers() || linkTo(s, e.Seen) != "" })
	answered := slices.ContainsFunc(s.Operation().Seen(), func(e contract.Effect) bool { return s.Target.Sinks[e.Seen].Answers() })
	counted := slices.ContainsFunc(s.Operation().Seen(), func(e contract.Effect) bool { return s.Target.Sinks[e.Seen].OTLP == nil })
	outside := n.byLine(checker.OutsideEffects, "effects with seen")
	n.but(counted, scenarios.NeedsEffect, "no effect of the operation is counted at a sink (effects with seen), spans aside, which come when it is over", outside)
	n.but(answered, scenarios.NeedsSink, "no effect of the operation is counted at a sink (effects with seen) that answers in place of another service", outside)
	n.but(held, scenarios.NeedsHeldEffect, "no effect of the operation is counted at a sink that answers in place of another service, or at a broker behind a link, where a message can be kept (effects with seen, links)", outside)
}

// removal is about a store that can be emptied, and things that can be removed.
func (n *needs) removal() {
	s, promise := n.system, n.promise
	n.but(s.Target.Store.Flush != "", scenarios.NeedsFlush, cmp.Or(storeless(s), "the target file names no keys of its store that may be deleted (store.flush)"), n.byLine(checker.BrokenStore, "store"))
	n.unless(len(s.Operation().Effects) == 0, scenarios.NeedsRemove, "nothing says what becomes of the effects (effects) of what is removed")
	n.unless(len(promise.Ack.Accepted.Statuses) == 0, scenarios.NeedsRemove, "what the contract accepts to be done later (ack.accepted) may be made after it was removed")
	n.unless(n.marked, scenarios.NeedsRemove, "its requests do not carry the marker but change what was prepared with it, which is not removed with what they made")
	n.unless(promise.ContentWindow == 0, scenarios.NeedsRemove, "the contract takes equal bodies for one intent for a while (content_window), whatever was removed")
	n.but(len(s.Operation().Remove) > 0, scenarios.NeedsRemove, "the target file does not say how what was made is removed (remove)", n.byLine(checker.MadeAgain, "remove"))
}

// others is about what there has to be several of, and about sizes of answers.
func (n *needs) others() {
	s, promise := n.system, n.promise
	n.unless(promise.Scope.Principal != contract.ScopeShared, scenarios.NeedsPrincipals, "all principals share their keys on purpose (scope.principal)")
	n.but(len(s.Principals) > 1, scenarios.NeedsPrincipals, "the target file names fewer than two principals", n.byLine(checker.SeveralUsers, "principals"))
	n.credential()
	n.unless(len(s.Operations) > 1, scenarios.NeedsOperations, "the target file has fewer than two operations that take a key")
	n.unless(len(s.Operations) < 2 || s.Operations[0].Key.Like == s.Operations[1].Key.Like, scenarios.NeedsOperations, "the keys of the operations have two forms (key.like), so that none can be sent to both")
	n.parents()
	for need, size := range map[scenarios.Need]targets.AnswerSize{scenarios.NeedsLargeAnswer: targets.LargeAnswer, scenarios.NeedsHugeAnswer: targets.HugeAnswer, scenarios.NeedsEmptyAnswer: targets.EmptyAnswer} {
		_, declared := s.Operation().Answers[size]
		n.but(declared, need, "the target file does not say how to ask for such an answer (answers."+string(size)+")", n.byLine(checker.AnswersBySize, "answers"))
	}
}

// parents is about two paths that one key is sent to. What counts rows of one parent says nothing of what is made under another.
func (n *needs) parents() {
	o, lets := n.system.Operation(), checker.Untried{}
	if n.key.In != contract.KeyNowhere && namesInPath(o.Request.Path) {
		lets = n.byLine(checker.TwoParents, "parents")
	}
	n.but(o.HasParent(), scenarios.NeedsParents, "the operation's path has nothing of prepare or parents, so there are no two parents to send one key to", lets)
	n.unless(len(o.Parents) == 0 || !slices.ContainsFunc(o.Effects, ofSomeRows), scenarios.NeedsParents, "an effect says by how much each create changes a number, and its query may ask for one parent alone (effects)")
	n.unless(len(o.Parents) == 0 || !slices.ContainsFunc(o.Effects, besideOthers), scenarios.NeedsParents, "an effect compares a row with others, such as its number, and the other parent may have numbers of its own (effects)")
}

// namesInPath reports that a path names one thing before its end, by a number or a UUID.
func namesInPath(path string) bool {
	return regexp.MustCompile(`^[^?{]*/(\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27})/[^?]`).MatchString(path)
}

// ofSomeRows reports that an effect is a number that each create changes, of some rows only.
func ofSomeRows(e contract.Effect) bool {
	return e.Delta != nil && *e.Delta != 0 && strings.Contains(strings.ToLower(e.Query), "where")
}

// besideOthers reports that an effect counts rows that are like the created one, and not only those of the marker.
func besideOthers(e contract.Effect) bool {
	return e.Rows != nil && strings.Contains(strings.ToLower(e.Query), " in (select ")
}

// credential is about what says who sends. A target that asks nobody who he is has nothing to name.
func (n *needs) credential() {
	request, lets := n.system.Operation().Request, checker.Untried{}
	if request.MayNameSender() {
		lets = n.byLine(checker.NobodysRequest, "request.credential")
	}
	n.but(len(request.Credential) > 0, scenarios.NeedsCredential, "the target file names no headers without which a request is refused (request.credential)", lets)
}

// wholeNumber is a template that always gives a whole number.
var wholeNumber = regexp.MustCompile(`^\{\{-?\s*(random\s[^|]*|\.Intent\.Number)\s*\|\s*json\s*-?\}\}$`)

// holdsWholeNumber reports whether a body of a target file has a whole number somewhere.
func holdsWholeNumber(value any) bool {
	switch value := value.(type) {
	case int, int64, uint64:
		return true
	case string:
		return wholeNumber.MatchString(value)
	case []any:
		for _, element := range value {
			if holdsWholeNumber(element) {
				return true
			}
		}
	case map[string]any:
		for _, member := range value {
			if holdsWholeNumber(member) {
				return true
			}
		}
	}
	return false
}
