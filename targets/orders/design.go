package orders

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// Design is one way to build the API: its tables, its handler, and what it claims.
type Design struct {
	Name       string
	Summary    string
	Correct    bool              // keeps its contract whatever its clients do
	Twin       string            // of a broken design: a correct one that takes the same requests, and shows what mending it comes to
	Contract   contract.Contract // what it claims; a broken design does not keep it
	Key        targets.Key       // zero: it takes no idempotency key
	Shows      []string          // kinds of finding by which a broken design can be caught, the worst first
	By         []string          // built-in scenarios that catch a broken design, each by itself
	On         []string          // the databases that it is built for: sqlite, postgres, mariadb; empty: each
	Redis      bool              // it keeps its keys or its locks in Redis, and takes a server of it
	Dependency bool              // it asks another service for each order, which is served beside it
	Instances  int               // it takes so many processes of its own over one database to show its defect; 0: it shows inside another program

	schema  []string // statements that make the tables
	handler func(*api) handler
	effects []contract.Effect // of an order, beyond its row; a quote has none

	// What follows may be left out.
	read     reader                                                     // of requests that create something; nil: readRequest
	accounts accounts                                                   // who customers are
	listen   func(net.Listener) net.Listener                            // wraps the server's listener
	routes   func(a *api, mux *http.ServeMux)                           // further ones
	resume   func(a *api)                                               // takes up what an earlier process has left undone
	describe func(o *targets.Operation, of kind)                        // corrects the usual description
	ways     func(order targets.Operation) map[string]targets.Operation // further ways to make an order, by name
}

// accounts says who customers are.
type accounts int

const (
	eachToken  accounts = iota // who has signed in
	guests                     // who has a session, and need not sign in
	oneAccount                 // all who have signed in are one
	lateSignIn                 // who has signed in, which the handler sees to itself
)

// StandsOn reports whether the design is built for a database: sqlite, postgres or mariadb.
func (d Design) StandsOn(database string) bool {
	return len(d.On) == 0 || slices.Contains(d.On, database)
}

// Designs lists every design: the correct ones first, then the broken ones. A new design is a file
// with its type, its story and its SQL, and a line here; the tests find it in this list.
func Designs() []Design {
	return []Design{
		uniqueKeyDesign(),
		throttledForAWhileDesign(),
		inProgress409Design(),
		naturalKeyDesign(),
		naturalKeyOneFieldDesign(),
		naturalKeyAnyCaseDesign(),
		upsertDesign(),
		softDeleteDesign(),
		putClientIDDesign(),
		patchAbsoluteDesign(),
		stateMachineDesign(),
		ifMatchDesign(),
		conflictWithLinkDesign(),
		seeOtherDesign(),
		formTokenDesign(),
		accepted202Design(),
		queue202Design(),
		laggingListingDesign(),
		orderWithLinesDesign(),
		walletDebitedOnceDesign(),
		orderWithOutboxDesign(),
		mailWithOrderDesign(),
		numberedDesign(),
		addsToLineDesign(),
		replay200Design(),
		replayNamedExistingDesign(),
		replayMarkerDesign(),
		replayOriginalDesign(),
		currentStateReplayDesign(),
		jsonReserialisedDesign(),
		bytesFingerprintDesign(),
		fieldsFingerprintDesign(),
		mediaTypeFingerprintDesign(),
		answersPackedDesign(),
		largeAnswerStampedDesign(),
		sentAtIgnoredDesign(),
		scopeByPathDesign(),
		pathInFingerprintDesign(),
		contentWindowDesign(),
		globalRejectScopeDesign(),
		sharedAccountDesign(),
		guestKeysDesign(),
		optionalKeyDesign(),
		keyInBodyDesign(),
		keyInEitherPlaceDesign(),
		deliveryIDDesign(),
		olderPathSameKeyDesign(),
		keyHeaderAnyCaseDesign(),
		keyFirstOfTwoDesign(),
		keyExpiresDesign(),
		keyExpiresRejectedDesign(),
		dedupWindowDesign(),
		jobRemovedRecordKeptDesign(),
		patientWaiter409Design(),
		leaseRenewedDesign(),
		reaperFreesDeadDesign(),
		loserGets500Design(),
		declinesSomeDesign(),
		declinesUndeclaredDesign(),
		failsNowAndThenDesign(),
		refusalForgottenDesign(),
		refusalKeptDesign(),
		waitersToldDesign(),
		pessimisticLockDesign(),
		lockStripedDesign(),
		advisoryLockDesign(),
		optimisticVersionDesign(),
		serializableDesign(),
		replicaPrecheckDesign(),
		resumeToCompletionDesign(),
		memoryWithLogDesign(),
		atLeastOnceDesign(),
		atLeastOnceAfterCrashDesign(),
		joinsInFlightDesign(),
		redisSetNXPlusUniqueDesign(),
		redisClaimAndRecordDesign(),
		storeFailsClosedDesign(),
		dependencyResumesDesign(),
		chargeKeyDerivedDesign(),
		chargeKeyOfRequestDesign(),
		chargeRetriedSameKeyDesign(),
		outboxClaimedDesign(),
		outboxSkipLockedDesign(),
		outboxAtLeastOnceDesign(),
		chargeByIDDesign(),
		refundOnceDesign(),
		sagaStepsKeyedDesign(),
		mailOutboxClaimedDesign(),
		mailAtMostOnceDesign(),
		eventOutboxClaimedDesign(),
		jobPushedAfterCommitDesign(),
		insertRepeatedBehindIndexDesign(),
		poolValidatedLateDesign(),

		chargeKeyPerAttemptDesign(),
		chargeKeyFromTimeDesign(),
		chargeKeyOfCustomerDesign(),
		chargeRetriedNewKeyDesign(),
		chargeBeforeClaimDesign(),
		chargeOnReplayDesign(),
		chargeRefusedBodyDesign(),
		chargeLostAfterCommitDesign(),
		outboxWithoutClaimDesign(),
		outboxClaimedInMemoryDesign(),
		outboxKeyPerSendDesign(),
		outboxDoneBeforeSentDesign(),
		chargeByIDNewKeyDesign(),
		refundRepeatedDesign(),
		sagaStepWithoutKeyDesign(),
		parcelPerRequestDesign(),
		mailBeforeCommitDesign(),
		mailRetriedInLoopDesign(),
		mailOnReplayDesign(),
		mailOutboxNewIDDesign(),
		eventBeforeCommitDesign(),
		eventRetriedInLoopDesign(),
		eventWithoutClaimDesign(),
		jobLostAfterCommitDesign(),
		plainCreateTwiceDesign(),
		createNeverStoredDesign(),
		checkThenInsertDesign(),
		lockMissesAStripeDesign(),
		recordAfterCommitDesign(),
		recordBehindAnswerDesign(),
		lockFailSuccessDesign(),
		noInProgressRecordDesign(),
		lockWithoutRecheckDesign(),
		waiterExecutesAfterTimeoutDesign(),
		waiterNeverToldDesign(),
		inProgressLeaseTooShortDesign(),
		inProgressStuckDesign(),
		throttleSticksToKeyDesign(),
		cachedInProgressDesign(),
		copyToldNotFoundDesign(),
		keyReleasedOnAmbiguousErrorDesign(),
		completedWithoutResponseDesign(),
		recordSaveCancelledByDisconnectDesign(),
		probeAndStoreKeysDifferDesign(),
		keyIgnoredOnVariantDesign(),
		responseRecordedBeforeCommitDesign(),
		dedupInOtherTransactionDesign(),
		ackBeforeCommitDesign(),
		ackBeforeDurableEnqueueDesign(),
		queueForgetsJobDesign(),
		queueRepeatsJobDesign(),
		listingLosesEventDesign(),
		internalRetryAfterUnknownCommitDesign(),
		formTokenNotAtomicDesign(),
		formTokenLogicInvertedDesign(),
		conflictSwallowedWrongConstraintDesign(),
		insufficientAsDuplicateDesign(),
		optimisticZeroRowsSuccessDesign(),
		noFingerprintDesign(),
		mismatchCreatesRowDesign(),
		mismatchOverwritesDesign(),
		fingerprintKeyOrderDesign(),
		fingerprintNumberFormatDesign(),
		fingerprintPartialDesign(),
		largeAnswerUnrecordedDesign(),
		hugeAnswerUnrecordedDesign(),
		largeAnswerTailChangesDesign(),
		largeAnswerTextCutDesign(),
		emptyAnswerUnrecordedDesign(),
		fingerprintHeadersDesign(),
		fingerprintSentAtDesign(),
		fingerprintNoParentDesign(),
		keyWithAddressDesign(),
		contentDedupBlocksLegitDesign(),
		scopeNoTenantDesign(),
		scopeNoEndpointDesign(),
		scopeNoParentDesign(),
		scopeAnonymousSharedDesign(),
		replayBeforeAuthorisationDesign(),
		replayFreshAnswerDesign(),
		replayEchoesRequestDesign(),
		replayStatusChangedDesign(),
		duplicateToldNothingDesign(),
		replayHeadersLostDesign(),
		replayBodyWrappedDesign(),
		replayPathCrashesDesign(),
		cachedTransient5xxDesign(),
		declineRetriedChargesDesign(),
		failsAfterOrderDesign(),
		refusalStoredDesign(),
		refusalCorrectedExecutesDesign(),
		refusalLeavesRowDesign(),
		keyBlankAcceptedDesign(),
		deliveryIDBlankSharedDesign(),
		keyTruncatedDesign(),
		keyCaseFoldedDesign(),
		keySpaceFoldedDesign(),
		keyByPlaceDesign(),
		keyMemberInFingerprintDesign(),
		olderPathOwnKeysDesign(),
		keyHeaderExactCaseDesign(),
		keyFirstAndLastDesign(),
		missingKeyAcceptedDesign(),
		expiryTooShortDesign(),
		expiryEndsEarlyDesign(),
		dedupWindowTooShortDesign(),
		jobRemovedWhenDoneDesign(),
		patientWaiterExecutesDesign(),
		leaseNotRenewedDesign(),
		reaperFreesRunningDesign(),
		hangUpTakenForCrashDesign(),
		childRowsDuplicatedDesign(),
		counterIncrementsPerRetryDesign(),
		walletDebitedPerRequestDesign(),
		patchIncrementDesign(),
		addsAgainDesign(),
		naturalKeyIndexedAsSentDesign(),
		ifMatchReadFirstDesign(),
		selectBeforeInsertDesign(),
		selectBeforeInsertOneFieldDesign(),
		uniqueMissingDesign(),
		insertWhereNotExistsDesign(),
		uniqueNullDistinctDesign(),
		uniqueWithDeletedAtNullDesign(),
		uniqueBlocksAfterSoftDeleteDesign(),
		ormUpsertEmulatedDesign(),
		upsertReplacesRowDesign(),
		onConflictReturnsNothingDesign(),
		uniqueWrongColumnDesign(),
		keyCollationCaseDesign(),
		keyCollationPadsDesign(),
		repeatableReadSkewDesign(),
		snapshotBeforeLockDesign(),
		lockReleasedBeforeCommitDesign(),
		lockExpiresBeforeWorkDesign(),
		lockReleasedByNonOwnerDesign(),
		counterReadModifyWriteDesign(),
		maxPlusOneNumberDesign(),
		replicaLagCheckDesign(),
		retryRereadsVersionDesign(),
		replayRerunsPostprocessingDesign(),
		partialCommitDesign(),
		redisKeyCheckThenActDesign(),
		redisRecordedBeforeCommitDesign(),
		redisLockExpiresBeforeWorkDesign(),
		redisLockReleasedByNonOwnerDesign(),
		redisSetNXThenExpireDesign(),
		storeForgetsDesign(),
		storeFailsOpenDesign(),
		storeProcessLocalDesign(),
		diesOnOverlapDesign(),
		dependencyErrorFreesKeyDesign(),
		dependencyErrorCachedDesign(),
		insertRepeatedByDriverDesign(),
		poolNeverValidatedDesign(),
	}
}

// Named returns the design with the name; the zero Design and false if there is none.
func Named(name string) (Design, bool) {
	for _, design := range Designs() {
		if design.Name == name {
			return design, true
		}
	}
	return Design{}, false
}

// find returns the design with the name; the error helps who misspelled it.
func find(name string) (Design, error) {
	if design, found := Named(name); found {
		return design, nil
	}
	const longest = 100
	if len(name) > longest { // a stranger's
		name = strings.ToValidUTF8(name[:longest], "") + "..."
	}
	var names []string
	nearest, distance := "", len(name)/2+1
	for _, design := range Designs() {
		names = append(names, design.Name)
		if d := levenshtein.ComputeDistance(name, design.Name); d < distance {
			nearest, distance = design.Name, d
		}
	}
	if nearest != "" {
		return Design{}, fmt.Errorf("unknown design %q, did you mean %q? (doubletap targets list has all)", name, nearest)
	}
	return Design{}, fmt.Errorf("unknown design %q (the designs are %s)", name, strings.Join(names, ", "))
}

// requiredKey is the usual place of the idempotency key.
func requiredKey() targets.Key {
	return targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: keyHeader, Required: true}}
}

// exactReplay is the usual claim: one order per key of a customer and an operation, a repeat waits and
// gets the first answer again, and a key that comes with another body is refused.
func exactReplay() contract.Contract {
	return contract.Contract{
		Level: contract.Idempotent,
		Scope: contract.Scope{Principal: contract.ScopeSeparate, Operation: contract.ScopeSeparate},
		Ack:   contract.Ack{Signature: contract.Signature{Statuses: []int{200, 201}}},
		Fingerprint: contract.Fingerprint{
			Mode:       contract.FingerprintJSON,
			OnMismatch: contract.MismatchReject,
			Signature:  problemSignature(422, "key_reused"),
		},
		InProgress: contract.InProgress{Mode: contract.InProgressWait},
		Replay:     contract.Replay{Body: contract.SameJSON, Headers: []string{"Location", "Content-Type"}},
		MissingKey: problemSignature(400, "key_required"),
	}
}

// loose is exactReplay without a comparison of bodies: a key that comes with another body gets the
// first answer.
func loose() contract.Contract {
	promise := exactReplay()
	promise.Fingerprint = contract.Fingerprint{OnMismatch: contract.MismatchReplayOriginal}
	return promise
}

// problemSignature recognises a problem by its status and code.
func problemSignature(status int, code string) contract.Signature {
	return contract.Signature{Statuses: []int{status}, Where: map[string]any{"/code": code}}
}
