package orders_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/orders"
)

// attempts bounds the rounds in which a broken design must show its defect once.
const attempts = 10

// round uses a fresh intent, and reports whether it has seen the defect.
type round func(t *testing.T, s subject, w intent) (shown bool)

// defects shows each broken design's defect over HTTP.
func defects() map[string]round {
	return map[string]round{
		"plain-create-twice":                  makesTwoOrdersOfOneRequest,
		"create-never-stored":                 acknowledgesAndDoesNotMake,
		"check-then-insert":                   duplicatesInABurst,
		"lock-misses-a-stripe":                duplicatesInSomeBurst,
		"record-after-commit":                 duplicatesOnAnEarlyRetry,
		"record-behind-answer":                duplicatesAtAnotherInstance,
		"lock-fail-success":                   acknowledgesWhatIsRolledBack,
		"no-in-progress-record":               duplicatesBehindOneAnswer,
		"lock-without-recheck":                duplicatesInABurst,
		"waiter-executes-after-timeout":       duplicatesInABurst,
		"waiter-never-told":                   leavesSomeWithoutAnAnswer,
		"throttle-sticks-to-key":              throttlesForEver,
		"in-progress-lease-too-short":         duplicatesBesideTheHolder,
		"dedup-window-too-short":              duplicatesSomeTimeLater,
		"job-removed-when-done":               duplicatesSomeTimeLater,
		"patient-waiter-executes":             duplicatesBesideLongWork,
		"lease-not-renewed":                   duplicatesBesideLongWork,
		"reaper-frees-running":                duplicatesBesideLongWork,
		"in-progress-stuck":                   isInUseForEver(0),
		"cached-in-progress":                  toldOnceSaysSoForEver,
		"decline-retried-charges":             chargesWhatWasDeclined,
		"fails-after-order":                   duplicatesAfterAFailure,
		"refusal-stored":                      refusesWhatWasCorrected,
		"refusal-corrected-executes":          placesWhatWasCorrected,
		"refusal-leaves-row":                  makesWhatItRefuses,
		"hang-up-taken-for-crash":             duplicatesForWhoLeavesOnceItIsThere,
		"key-released-on-ambiguous-error":     duplicatesForWhoLeavesOnceItIsThere,
		"completed-without-response":          isInUseForEver(1),
		"record-save-cancelled-by-disconnect": duplicatesForWhoLeaves,
		"probe-and-store-keys-differ":         duplicatesEachRepeatOf("create_order"),
		"key-ignored-on-variant":              duplicatesEachRepeatOf("create_quote"),
		"response-recorded-before-commit":     saysSoAfterARollback(http.StatusCreated),
		"dedup-in-other-transaction":          saysSoAfterARollback(http.StatusConflict),
		"ack-before-commit":                   acknowledgesMoreThanItMakes,
		"ack-before-durable-enqueue":          forgetsWhatItHasPromised,
		"queue-forgets-job":                   losesWhatItWasDoing,
		"queue-repeats-job":                   duplicatesInABurst,
		"listing-loses-event":                 losesWhatItWasDoing,
		"internal-retry-after-unknown-commit": duplicatesOnALostCommit,
		"insert-repeated-by-driver":           duplicatesOnALostInsert,
		"pool-never-validated":                failsForGoodAfterABreak,
		"form-token-not-atomic":               forgetsATokenOfAnotherTab,
		"form-token-logic-inverted":           takesTheThirdForTheFirst,
		"conflict-swallowed-wrong-constraint": acknowledgesAndDoesNotMake,
		"insufficient-as-duplicate":           acknowledgesAndDoesNotMake,
		"optimistic-zero-rows-success":        losesOneOfSeveral,
		"cached-transient-5xx":                repeatsAFailureForEver,
		"no-fingerprint":                      answersAnAlteredBodyWithTheFirstOrder,
		"fingerprint-partial":                 answersAnAlteredBodyWithTheFirstOrder,
		"mismatch-creates-row":                makesAnOrderOfAnAlteredBody,
		"mismatch-overwrites":                 overwritesWhatWasAcknowledged,
		"fingerprint-key-order":               refusesSpelling(`{"reference": %q, "note": %q, "item": "lamp", "amount": 1200}`),
		"fingerprint-number-format":           refusesSpelling(`{"amount":1200.0,"item":"lamp","reference":%q,"note":%q}`),
		"fingerprint-headers":                 refusesAnotherClient,
		"fingerprint-sent-at":                 refusesALaterAttempt,
		"fingerprint-no-parent":               answersForAnotherShop,
		"scope-no-parent":                     answersForAnotherShop,
		"key-with-address":                    duplicatesElsewhere,
		"large-answer-unrecorded":             duplicatesWith("X-Expand", "terms"),
		"huge-answer-unrecorded":              duplicatesWith("X-Expand", "all-terms"),
		"large-answer-tail-changes":           answersDifferentlyWith("X-Expand", "terms"),
		"large-answer-text-cut":               answersDifferentlyWith("X-Expand", "terms"),
		"empty-answer-unrecorded":             duplicatesWith("Prefer", "return=minimal"),
		"content-dedup-blocks-legit":          refusesATwin,
		"key-blank-accepted":                  sharesABlankKey,
		"delivery-id-blank-shared":            losesWithABlankKey,
		"key-truncated":                       refusesKeysAlike(longKey("1"), longKey("2")),
		"key-case-folded":                     refusesKeysAlike("Key", "kEY"),
		"key-by-place":                        duplicatesByTheOtherWay,
		"key-member-in-fingerprint":           refusesTheOtherWay,
		"older-path-own-keys":                 duplicatesByBothWaysAtOnce,
		"key-header-exact-case":               duplicatesWithTheNameInLowerCase,
		"key-first-and-last":                  duplicatesWithTwoKeys,
		"key-space-folded":                    refusesKeysAlike("key", "key "),
		"missing-key-accepted":                executesWithoutAKey,
		"scope-no-tenant":                     answersWithAForeignOrder,
		"scope-no-endpoint":                   answersWithAnotherOperation,
		"scope-anonymous-shared":              answersTheSameFormWithAForeignOrder,
		"replay-before-authorisation":         answersTheSameFormWithAForeignOrder,
		"replay-fresh-answer":                 answersDifferently("created_at"),
		"replay-status-changed":               answersDifferently("status"),
		"duplicate-told-nothing":              tellsNothingOnARepeat,
		"replay-headers-lost":                 answersDifferently("Location"),
		"replay-body-wrapped":                 answersDifferently("id"),
		"replay-echoes-request":               echoesAnAlteredBody,
		"replay-path-crashes":                 failsEveryRepeat,
		"expiry-too-short":                    forgetsAtAge(600 * time.Millisecond), // of one second that is promised
		"expiry-ends-early":                   forgetsAtAge(7 * time.Second),        // of 12
		"child-rows-duplicated":               changesMoreOnARepeat,
		"counter-increments-per-retry":        changesMoreOnARepeat,
		"wallet-debited-per-request":          changesMoreOnARepeat,
		"patch-increment":                     changesMoreOnARepeat,
		"adds-again":                          addsOnARepeat,
		"retry-rereads-version":               changesMoreOnARepeat,
		"replay-reruns-postprocessing":        changesMoreOnARepeat,
		"partial-commit":                      neverCompletes,
		"select-before-insert":                duplicatesInABurst,
		"natural-key-indexed-as-sent":         duplicatesInCapitals,
		"if-match-read-first":                 changesTwiceForOneVersion,
		"select-before-insert-one-field":      duplicatesInABurst,
		"unique-missing":                      duplicatesInABurst,
		"insert-where-not-exists":             duplicatesInABurst,
		"unique-null-distinct":                duplicatesOnARepeat,
		"unique-with-deleted-at-null":         duplicatesOnARepeat,
		"unique-blocks-after-soft-delete":     refusesWhatWasDeleted,
		"orm-upsert-emulated":                 duplicatesInABurst,
		"upsert-replaces-row":                 replacesWhatWasAcknowledged,
		"on-conflict-returns-nothing":         acknowledgesWithoutAnID,
		"copy-told-not-found":                 saysThatThereIsNothing,
		"unique-wrong-column":                 refusesAForeignKey,
		"key-collation-case":                  refusesKeysAlike("Key", "kEY"),
		"key-collation-pads":                  refusesKeysAlike("key", "key "),
		"repeatable-read-skew":                duplicatesInABurst,
		"snapshot-before-lock":                duplicatesInABurst,
		"lock-released-before-commit":         duplicatesInABurst,
		"lock-expires-before-work":            duplicatesInABurst,
		"lock-released-by-non-owner":          duplicatesInABurst,
		"counter-read-modify-write":           takesTooLittleForSeveral,
		"max-plus-one-number":                 sharesWhatIsOnes,
		"replica-lag-check":                   duplicatesOnARepeat,
		"redis-key-check-then-act":            duplicatesInABurst,
		"redis-recorded-before-commit":        saysSoAfterARollback(http.StatusCreated),
		"redis-lock-expires-before-work":      duplicatesInABurst,
		"redis-lock-released-by-non-owner":    duplicatesInABurst,
		"redis-set-nx-then-expire":            isInUseForEver(0),
		"store-forgets":                       duplicatesOnceTheStoreIsEmpty,
		"store-fails-open":                    duplicatesWhileTheStoreIsAway,
		"store-process-local":                 duplicatesAtAnotherInstance,
		"dies-on-overlap":                     endsItsProcess,
		"dependency-error-frees-key":          duplicatesOnceTheDependencyIsBack,
		"dependency-error-cached":             repeatsForEverThatThePaymentFailed,
	}
}

// The authorisation leaves time to get in between: more of it where the machine is too busy for the first.
func TestBrokenDesignsShowTheirDefects(t *testing.T) {
	inRows := func(d orders.Design) bool { // defects outside of them show at sinks only
		target, _, err := orders.Describe(d.Name)
		require.NoError(t, err)
		return !d.Correct && len(target.Sinks) == 0
	}
	overDealtDesigns(t, allStores, inRows, func(t *testing.T, design orders.Design, database string) {
		show := defects()[design.Name]
		require.NotNil(t, show, "every broken design has a test")
		for _, work := range []time.Duration{100 * time.Millisecond, 2 * time.Second} {
			s := serve(t, orders.Options{Design: design.Name, Database: database, Work: work})
			for i := range attempts {
				if show(t, s, newIntent(fmt.Sprint("round-", i))) {
					return
				}
				s.untilIdle(t)
			}
		}
		t.Fatalf("%s looked correct in %d rounds", design.Name, 2*attempts)
	})
}

func TestCorrectDesignsShowNoneOfTheDefects(t *testing.T) {
	t.Parallel()
	for name, show := range defects() {
		for _, design := range fairRivals(name) {
			t.Run(name+"/"+design, func(t *testing.T) {
				t.Parallel()
				s := serve(t, orders.Options{Design: design, Work: 20 * time.Millisecond})
				require.False(t, show(t, s, newIntent("fair")))
				s.untilIdle(t)
			})
		}
	}
}

// fairRivals are correct designs that could show the defect of this broken one.
func fairRivals(broken string) []string {
	switch broken {
	case "key-space-folded", "key-collation-pads": // no header carries a space at its end
		return []string{"key-in-body"}
	case "select-before-insert", "select-before-insert-one-field", "unique-missing", "unique-null-distinct": // no key
		return []string{"natural-key", "natural-key-one-field"}
	case "natural-key-indexed-as-sent":
		return []string{"natural-key-any-case"}
	case "if-match-read-first":
		return []string{"if-match"}
	case "unique-blocks-after-soft-delete":
		return []string{"soft-delete"}
	case "adds-again":
		return []string{"adds-to-line"}
	case "patch-increment":
		return []string{"patch-absolute", "state-machine", "if-match"}
	case "form-token-not-atomic":
		return []string{"form-token"}
	case "ack-before-durable-enqueue":
		return []string{"accepted-202"}
	case "queue-forgets-job", "queue-repeats-job", "listing-loses-event":
		return []string{"queue-202", "lagging-listing"}
	case "insert-where-not-exists", "unique-with-deleted-at-null", "orm-upsert-emulated", "upsert-replaces-row":
		return []string{"upsert"}
	}
	if strings.HasPrefix(broken, "redis-") || broken == "store-forgets" || broken == "store-fails-open" {
		return []string{"redis-set-nx-plus-unique", "redis-claim-and-record", "store-fails-closed"}
	}
	if strings.HasPrefix(broken, "dependency-") {
		return []string{"dependency-resumes"}
	}
	switch broken {
	case "decline-retried-charges", "fails-after-order":
		return []string{"declines-some", "fails-now-and-then"}
	case "refusal-stored":
		return []string{"refusal-forgotten", "unique-key"}
	case "refusal-corrected-executes":
		return []string{"refusal-kept"}
	case "refusal-leaves-row":
		return []string{"refusal-forgotten", "refusal-kept", "unique-key"}
	case "hang-up-taken-for-crash":
		return []string{"at-least-once-after-crash", "at-least-once"}
	case "pool-never-validated": // its rival takes a server: TestAPoolThatIsValidatedLateRecovers
		return nil
	case "expiry-ends-early", "expiry-too-short": // keys have their age there
		return []string{"key-expires"}
	case "waiter-never-told":
		return []string{"waiters-told", "joins-in-flight"}
	case "lock-misses-a-stripe":
		return []string{"lock-striped"}
	case "dies-on-overlap":
		return []string{"joins-in-flight"}
	case "throttle-sticks-to-key":
		return []string{"throttled-for-a-while"}
	case "delivery-id-blank-shared":
		return []string{"delivery-id", "optional-key"}
	case "large-answer-tail-changes", "large-answer-text-cut":
		return []string{"answers-packed"}
	case "large-answer-unrecorded", "huge-answer-unrecorded", "empty-answer-unrecorded":
		return []string{"answers-packed"}
	case "fingerprint-headers", "key-with-address":
		return []string{"media-type-fingerprint", "unique-key"}
	case "key-by-place", "key-member-in-fingerprint", "older-path-own-keys":
		return []string{"key-in-either-place", "older-path-same-key"}
	case "key-header-exact-case":
		return []string{"key-header-any-case", "optional-key"}
	case "key-first-and-last":
		return []string{"key-first-of-two", "unique-key"}
	case "fingerprint-sent-at":
		return []string{"sent-at-ignored"}
	case "fingerprint-no-parent", "scope-no-parent":
		return []string{"scope-by-path", "path-in-fingerprint"}
	case "duplicate-told-nothing":
		return []string{"replay-named-existing", "replay-200"}
	case "insert-repeated-by-driver":
		return []string{"insert-repeated-behind-index"}
	case "dedup-window-too-short", "job-removed-when-done":
		return []string{"dedup-window", "job-removed-record-kept"}
	case "patient-waiter-executes", "lease-not-renewed", "reaper-frees-running":
		return []string{"patient-waiter-409", "lease-renewed", "reaper-frees-dead"}
	}
	return []string{"unique-key", "order-with-lines", "in-progress-409"}
}
