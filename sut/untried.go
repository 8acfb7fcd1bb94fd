package sut

import (
	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Untried says what a scenario would try that is left out, where lines of the target file would let it; nil: it is played, or what is
// promised leaves nothing to try.
func Untried(s *System, scenario scenarios.Scenario) *checker.Untried {
	missing := unmet(s)
	if why := lacksLink(s, scenario); why != "" {
		missing[scenarios.NeedsLink] = why
	}
	if scenario.TouchesStore() && s.Target.Contract.Store.OnFailure == contract.FailOpen {
		return nil
	}
	var first *checker.Untried
	for _, need := range scenario.Needs {
		if missing[need] == "" {
			continue
		}
		lets := opens(s, need, scenario)
		if lets.Line == "" {
			return nil
		}
		if first == nil {
			first = &lets
		}
	}
	return first
}

// opens says what lets scenarios be played that lack a need; without a line: nothing does.
func opens(s *System, need scenarios.Need, scenario scenarios.Scenario) checker.Untried {
	if s.BuiltIn() {
		switch {
		case need == scenarios.NeedsProcess && s.server != nil:
			return checker.Untried{What: checker.Crashes, Line: "--target " + ServedPrefix + "NAME"}
		case need == scenarios.NeedsInstances:
			return checker.Untried{What: checker.SeveralServers, Line: "--target " + ServedPrefix + "NAME --instances 2"}
		default:
			return checker.Untried{}
		}
	}
	one, promise := s.Operation(), s.Target.Contract
	if len(one.Key.Issued) > 0 && need == scenarios.NeedsProcess {
		return checker.Untried{}
	}
	switch need {
	case scenarios.NeedsProcess:
		return checker.Untried{What: checker.Crashes, Line: "process"}
	case scenarios.NeedsLink:
		return opensLink(s, scenario)
	case scenarios.NeedsSink, scenarios.NeedsEffect:
		return checker.Untried{What: checker.OutsideEffects, Line: "effects with seen"}
	case scenarios.NeedsInstances:
		return checker.Untried{What: checker.SeveralServers, Line: "process.instances, or instances"}
	case scenarios.NeedsFlush:
		return checker.Untried{What: checker.BrokenStore, Line: "store"}
	case scenarios.NeedsWriteGate:
		if s.options.DB == nil && s.RowsSource() != "" && !s.Target.AsksItself() {
			return checker.Untried{What: checker.HeldWrites, Line: "database.write_gate"}
		}
	case scenarios.NeedsWork:
		if len(promise.Ack.Accepted.Statuses) == 0 && promise.Expiry.After == 0 {
			return checker.Untried{What: checker.LongWork, Line: "work"}
		}
	case scenarios.NeedsPrincipals:
		if promise.Scope.Principal != contract.ScopeShared {
			return checker.Untried{What: checker.SeveralUsers, Line: "principals"}
		}
	case scenarios.NeedsAlter:
		return checker.Untried{What: checker.OtherBodies, Line: "alter"}
	case scenarios.NeedsInvalid:
		if len(one.Invalid) == 0 {
			return checker.Untried{What: checker.CorrectedForms, Line: "invalid"}
		}
	case scenarios.NeedsRemove:
		if len(one.Remove) == 0 && len(one.Effects) == 0 && len(promise.Ack.Accepted.Statuses) == 0 && promise.ContentWindow == 0 && s.Target.CarriesMarker(one.Operation) {
			return checker.Untried{What: checker.MadeAgain, Line: "remove"}
		}
	case scenarios.NeedsExpiry:
		if one.Key.In != contract.KeyNowhere && len(promise.NaturalKey) == 0 && promise.Expiry.After == 0 {
			return checker.Untried{What: checker.ForgottenKeys, Line: "contract.expiry"}
		}
	case scenarios.NeedsLargeAnswer, scenarios.NeedsHugeAnswer, scenarios.NeedsEmptyAnswer:
		return checker.Untried{What: checker.AnswersBySize, Line: "answers"}
	}
	return checker.Untried{}
}

// opensLink says which link lets a scenario be played.
func opensLink(s *System, scenario scenarios.Scenario) checker.Untried {
	for _, name := range scenario.LinksInUse() {
		if _, found := s.Target.Links[name]; found {
			continue
		}
		family := map[string]checker.Family{databaseLink: checker.BrokenDatabase, storeLink: checker.BrokenStore, dependencyLink: checker.BrokenService}[name]
		if family != "" {
			return checker.Untried{What: family, Line: "links." + name}
		}
	}
	return checker.Untried{}
}
