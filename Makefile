GO ?= go
BIN := bin/doubletap
VERSION ?= $(or $(shell git describe --tags --always --dirty 2>/dev/null),devel)
# The race detector watches our code and all that it calls but SQLite, which is C made into Go: it has no use for the detector, and
# takes half of the tests' computing under it. The rooms that start no goroutine have no use for it either (a test holds that they
# start none), and the command's tests play whole runs of what the tests of the engine, the driver and the library have under it.
RACE := -race -gcflags='modernc.org/...=-race=false -d=checkptr=0'
COMMAND := ./cmd/doubletap
SEQUENTIAL := ./diagnosis ./document ./outline ./reports ./scenarios ./targets ./targets/drafting/...
UNWATCHED = $(COMMAND) $(SEQUENTIAL)
# What takes long comes first: at the end there would be nothing left to do beside it.
LONG = $(shell $(GO) list ./targets/orders ./engine ./checker ./driver)
WATCHED = $(LONG) $(filter-out $(LONG) $(shell $(GO) list $(UNWATCHED)),$(shell $(GO) list ./...))
# Most tests wait more than they compute, so there are more of them at once than cores, and more rooms. Those of the command wait most, and
# take longest.
# Each test binary is vetted whole as it is built, which costs no more than the usual part of it.
TESTFLAGS := -vet=all -shuffle=on -p 3 -timeout 40m
EVENTS :=
# What the tests run in. They write thousands of small files and databases: in memory, where there is room for them, and not on the
# disk, in a folder that the users of the servers may enter, and that goes when they end. Their own memory is collected less often, which
# spares a tenth of their computing.
SETTING = room=$$(df -Pk /dev/shm 2>/dev/null | awk '$$6 == "/dev/shm" && $$4 > 4e6 { print $$6 }'); \
	if grep -q ' /dev/shm .*noexec' /proc/mounts 2>/dev/null; then room=; fi; \
	TMPDIR=$$(mktemp -d "$${TMPDIR:-$${room:-/tmp}}/tests.XXXXXX") && chmod 711 "$$TMPDIR" || exit 1; \
	trap 'rm -rf "$$TMPDIR"' EXIT; trap 'sleep 2; exit 130' INT TERM; \
	export TMPDIR GOGC=$${GOGC:-400};

.DEFAULT_GOAL := help

.PHONY: help
help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the command to bin/doubletap
	$(GO) build -trimpath -ldflags "-s -w -X github.com/doubletap-harness/doubletap/engine.version=$(VERSION)" -o $(BIN) ./cmd/doubletap

.PHONY: run
run: build ## run every built-in scenario against the built-in orders API
	@$(BIN) demo

.PHONY: test
test: servers ## run doubletap's own tests on real servers, with the race detector, beside gofmt, go vet and staticcheck
	@$(SETTING) $(MAKE) --no-print-directory -j3 LINTED=-tests=false lint test-watched test-unwatched

.PHONY: test-watched test-unwatched
test-watched:
	$(GO) test $(EVENTS) $(RACE) $(TESTFLAGS) -parallel 8 $(WATCHED)
test-unwatched:
	DOUBLETAP_BROWSER=required $(GO) test $(EVENTS) $(TESTFLAGS) -parallel 12 $(UNWATCHED)

.PHONY: test-root
test-root: servers ## the tests that need root, and are skipped without: a network of their own that sees every contact, and a disk to fill
	DOUBLETAP_ROOT=required $(GO) test -count=1 -v -run 'TestNothingButThisMachineIsContacted|TestNoCommandContactsAnotherHost|TestAFullDisk|TestTheDiskOf' $(COMMAND) ./rundir

.PHONY: steady
steady: servers ## the tests N times, every second time beside 8 busy processes: a table of what was red and what was slow
	@mkdir -p bin && $(GO) build -o bin/steady ./internal/steady
	bin/steady -n $(or $(N),10) -load $(or $(LOAD),8) -logs bin/steady-logs $(MAKE) --no-print-directory test-events

.PHONY: test-events
test-events:
	@$(SETTING) $(MAKE) --no-print-directory -j3 --output-sync=target EVENTS='-json -count=1' LINTED=-tests=false lint test-watched test-unwatched

.PHONY: servers
servers: ## find or install what the tests take: PostgreSQL, MariaDB, Redis and RabbitMQ, which they start privately, Chromium, curl, sqlite3, psycopg2 and gcc; as root, by apt-get
	$(GO) run ./internal/servers/install

.PHONY: vet lint
# Beside the tests, staticcheck leaves their own code out, which is two thirds of its time: the tests compile it, and go vet reads it.
vet: lint ## gofmt, go vet and staticcheck, with the checks of staticcheck.conf
	$(GO) vet ./...
lint:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	$(GO) tool staticcheck $(LINTED) ./...

.PHONY: vuln
vuln: ## known vulnerabilities in the code that is linked; skipped where their database cannot be reached
	@said=$$($(GO) tool govulncheck ./... 2>&1); code=$$?; echo "$$said"; \
	case "$$code $$said" in \
	0*) ;; \
	*"fetching vulnerabilities"*) echo "vuln: skipped, as vuln.go.dev cannot be reached from here" ;; \
	*) exit $$code ;; \
	esac

.PHONY: controls
controls: build ## every built-in design on every database with SEEDS seeds: broken ones must fail, correct ones pass
	DOUBLETAP_SEEDS=$(or $(SEEDS),10) $(GO) test -count=1 -timeout 80m -parallel 4 -run TestEveryDesignGetsItsVerdict -v ./cmd/doubletap
	DOUBLETAP_SEEDS=1 $(GO) test -count=1 -timeout 30m -parallel 8 ./targets/orders

.PHONY: matrix
matrix: build servers ## every built-in design with every scenario on every database, SEEDS seeds: writes docs/matrix.md; RESUME=matrix.json begins that file, or goes on where it was left
	$(GO) run ./internal/servers/with $(BIN) matrix --sparing --seeds $(or $(SEEDS),1) --parallel $(or $(PARALLEL),14) \
		--database "" --database '$$POSTGRES_URL' --database '$$MARIADB_URL' --store '$$REDIS_URL' \
		$(if $(RESUME),--resume $(RESUME) -o $(RESUME)) -o docs/matrix.md

.PHONY: observations
observations: build servers ## what every broken design shows, on every database: the examples that likely causes come from
	$(GO) run ./internal/servers/with $(BIN) matrix --seeds 1 --parallel $(or $(PARALLEL),6) --design "$(or $(DESIGNS),$$($(BIN) targets list | awk '/^broken/ { sub("builtin:", "", $$2); print $$2 }' | paste -sd,))" \
		--database "" --database '$$POSTGRES_URL' --database '$$MARIADB_URL' --store '$$REDIS_URL' \
		--resume bin/observations.json -o bin/observations.json
	$(GO) run ./internal/observations bin/observations.json > bin/observations.new && mv bin/observations.new diagnosis/observations.json.gz

.PHONY: exports
exports: build servers ## every broken built-in design on SQLite: its finding, shrunk, and what its exports show at it and at its correct twin: writes docs/exports.md; bin/exports has what was played
	$(GO) build -o bin/exports-tool ./internal/exports
	$(GO) run ./internal/servers/with sh -c 'bin/exports-tool -doubletap $(BIN) -parallel $(or $(PARALLEL),2) -store "$$REDIS_URL" -o docs/exports.md $(DESIGNS)'

.PHONY: docs
docs: ## the tables of the code in schemas and docs, and every key of every file: writes docs/keys.md
	@$(GO) run ./internal/tables
	@$(MAKE) --no-print-directory build
	@{ printf '# Every key of every file\n\n`make docs` makes this page from the JSON Schemas. To learn what each part is for, read\n'; \
	printf '[the scenario language](scenarios.md) and [the target file](targets.md).\n'; \
	printf '\n## Scenarios\n\n'; $(BIN) schema scenario --markdown; \
	printf '\n## Target files\n\n'; $(BIN) schema target --markdown; \
	printf '\n## Registers of known bugs\n\n'; $(BIN) schema known --markdown; } > docs/keys.md

.PHONY: soak
soak: ## 200,000 random schedules of correct and broken designs against the checker
	DOUBLETAP_SOAK=$(or $(SOAK),200000) $(GO) test -count=1 -timeout 30m -run Model -v ./checker

.PHONY: mutate
mutate: ## switch off one rule of the checker after the other: a test must fail each time
	$(GO) run ./internal/mutate

.PHONY: fuzz
fuzz: ## fuzz every reader of foreign bytes, every export and the checker, FUZZTIME (30s) each
	@grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9]+' . | sed -E 's|/[^/]*_test.go:[0-9]+:func | |' | sort | \
	while read -r room name; do \
		echo "$$room $$name"; \
		$(GO) test -run xxx -fuzz "^$$name$$" -fuzztime $(or $(FUZZTIME),30s) -fuzzminimizetime 20x "$$room" || exit 1; \
	done

.PHONY: hostile
hostile: build ## bad days: odd files, signals, full disks, answers, databases and findings of enemies: writes docs/reliability.md
	$(GO) build -o bin/hostile ./internal/hostile
	bin/hostile -doubletap $(BIN) -parallel $(or $(PARALLEL),6) -o docs/reliability.md

.PHONY: bench
bench: ## doubletap beside vegeta, k6, hey and goroutines, on a quiet machine: writes docs/bench.md
	$(GO) run ./internal/bench -apart -soak $(or $(SOAK),10m) -o docs/bench.md

.PHONY: museum
museum: build servers ## published bugs of other people's packages, by npm and go, before and after their fix: writes docs/museum.md
	$(GO) run ./museum -doubletap $(BIN) -runs $(or $(RUNS),5) -whole $(or $(WHOLE),1) -o docs/museum.md $(EXHIBITS)

.PHONY: paced
paced: build servers ## a correct service whose creates take 0 to 300 ms, RUNS seeds, alone and beside 8 busy processes: writes docs/paced.md
	$(GO) build -o bin/paced ./internal/paced
	$(GO) run ./internal/paced/measure -doubletap $(BIN) -paced bin/paced -runs $(or $(RUNS),20) -o docs/paced.md

.PHONY: benchmarks
benchmarks: ## benchmarks of every room
	$(GO) test -run xxx -bench . -benchtime 1x ./...

.PHONY: clean
clean: ## remove what was built and recorded
	rm -rf bin reports/runs
