GO ?= go
BIN := bin/doubletap

.DEFAULT_GOAL := help

.PHONY: help
help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the command to bin/doubletap
	$(GO) build -o $(BIN) ./cmd/doubletap

.PHONY: run
run: build ## run every built-in scenario against the built-in orders API
	@$(BIN) run

.PHONY: test
test: servers vet ## run all tests on real servers, with the race detector
	$(GO) test -race -shuffle=on -timeout 15m ./...

.PHONY: servers
servers: ## find or install PostgreSQL and MariaDB, which the tests start privately
	$(GO) run ./targets/servers/install

.PHONY: vet
vet: ## gofmt and go vet
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	$(GO) vet ./...

.PHONY: controls
controls: build ## every built-in design on every store with SEEDS seeds: broken ones must fail, correct ones pass
	DOUBLETAP_SEEDS=$(or $(SEEDS),10) $(GO) test -count=1 -timeout 60m -run TestEveryDesignGetsItsVerdict -v ./cmd/doubletap

.PHONY: clean
clean: ## remove what was built and recorded
	rm -rf bin reports/runs
