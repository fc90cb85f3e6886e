# vjob: the one entry point for people and for CI. `make` alone lists the targets.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
GO          ?= go
TAGS        := libvirt_dlopen
TOOL        := $(GO) tool -modfile=tools.mod
SEEDS       ?= 10000
SEED        ?= 1
REQUESTS    ?= 10000000
CUTS        ?= 100000
SWITCHES    ?= 1000
LANES       ?= 2
COUNT       ?= 6
LIMIT       ?= 10s
SIZE        ?= small
PREFIX      ?= /usr/local
PACKAGE     ?= ./ctxswitch/gang
OAR          = sub stat del hold resume connect sh cp print walltime nodes nodesetting property queue notify removeresource accounting
# Everything but the real lab, which needs root and the machine for itself.
PACKAGES     = $$($(GO) list -tags $(TAGS) ./... | grep -v '/tests/lab')

.DEFAULT_GOAL := help
.PHONY: help build demo install bench-cli setup test check fmt race sim fuzz powercuts torture bench bench-pass bench-planner bench-replay bench-energy bench-balance bench-system papers cover mutation mutants clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/vjob, bin/vjobd and bin/vjob-oar
	$(GO) build -trimpath -tags $(TAGS) -o bin/ ./cmd/...
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/vjob-oar # without the loader it starts in half the time

install: build ## install the programs below PREFIX (/usr/local), with links to vjob-oar, which answers as OAR's commands
	install -d $(DESTDIR)$(PREFIX)/bin
	install bin/vjob bin/vjobd bin/vjob-oar $(DESTDIR)$(PREFIX)/bin
	for name in $(OAR); do ln -sf vjob-oar $(DESTDIR)$(PREFIX)/bin/oar$$name; done

demo: build ## a simulated cluster on which vjobs are suspended and resumed; leaves nothing behind
	scripts/demo.sh

setup: ## check the tools; as root, install the Debian packages of the real lab
	scripts/setup.sh

test: setup build ## run every test, the simulation and the real lab included
	scripts/test.sh

check: ## vet, linters, format, boundaries, dead code, file sizes, patches of mutants
	$(GO) vet ./...
	$(GO) vet -tags $(TAGS) ./...
	$(TOOL) golangci-lint run ./...
	$(GO) test -count=1 ./tests/architecture
	scripts/deadcode.sh
	scripts/sizes.sh 450
	for patch in tests/mutants/*.patch; do git apply --check "$$patch"; done

fmt: ## format the Go files as `make check` wants them
	$(TOOL) golangci-lint fmt ./...

race: ## run the tests, but for the real lab, under the race detector
	$(GO) test -race -tags $(TAGS) -timeout 40m $(PACKAGES)

sim: ## simulate SEEDS seeds from SEED on (SEEDS=1 SEED=n replays one)
	GOGC=2000 GOMEMLIMIT=4GiB $(GO) test -tags $(TAGS) -count=1 -timeout 0 -v -run TestSeeds ./tests/sim -seeds=$(SEEDS) -seed=$(SEED)

fuzz: ## make REQUESTS requests of every route and role from SEED on (REQUESTS=1 ONLY=n repeats the one of this number)
	$(GO) test -tags $(TAGS) -count=1 -timeout 0 -v -run 'TestRequests$$' ./tests/apifuzz -requests=$(REQUESTS) -seed=$(SEED) $(if $(ONLY),-only=$(ONLY))

powercuts: ## cut the power CUTS times in the database and in the image store (SEED as for sim)
	$(GO) test -count=1 -timeout 0 -v -run 'TestDatabase$$' ./tests/powercut -cuts=$(CUTS) -seed=$(SEED)
	$(GO) test -count=1 -timeout 0 -v -run 'TestPowerCuts$$' ./hypervisor/libvirt -cuts=$(CUTS) -seed=$(SEED)

torture: ## as root: SWITCHES switches of real VMs with faults, drawn from SEED, in LANES labs side by side
	$(GO) test -tags $(TAGS) -count=1 -timeout 0 -v -run 'TestTorture$$' ./tests/lab/endtoend -switches=$(SWITCHES) -seed=$(SEED) -lanes=$(LANES)

bench: ## run the benchmarks COUNT times into .cache/bench.txt; compare with .cache/base.txt if there is one
	mkdir -p .cache
	$(GO) test -tags $(TAGS) -run '^$$' -bench . -benchmem -count=$(COUNT) -timeout 60m $(PACKAGES) | tee .cache/bench.txt
	$(TOOL) benchstat $$(ls .cache/base.txt 2>/dev/null) .cache/bench.txt

bench-pass: ## one pass of the daemon's core beside long queues, under each policy, and many submissions
	$(GO) test ./scheduler -run '^$$' -bench 'Queue|Submissions' -benchtime 5x -timeout 60m

bench-planner: ## the planner beside others: on the instances in the folder VJOB_BRSP, or a few; LIMIT for each
	$(GO) test -count=1 -timeout 0 -v -run Table ./tests/planner -table -limit=$(LIMIT)

bench-replay: ## whole logs under every discipline beside others: those in the folder VJOB_TRACES, or two that are cut
	$(GO) test -count=1 -timeout 0 -v -run Table ./tests/traces -table

bench-energy: ## the energy engine beside the paper: on the instances in the folder VJOB_ENERGY, or a few, and on drawn ones
	$(GO) test -count=1 -timeout 0 -v -run Table ./tests/energy -table

bench-cli: build ## OAR's commands: JOBS (5000) submissions one by one, lists of them, an array
	scripts/bench-cli.sh

bench-balance: ## rounds of balancing on clusters of up to 20,000 nodes, and the division among 10,000 pools, on one processor
	GOMAXPROCS=1 $(GO) test ./scheduler/balance ./queue/pool -run '^$$' -bench 'Round|Divide' -benchtime 5x

bench-system: build ## the daemon from outside: submissions, lists, streams and mixed loads beside aims and other systems; SIZE=full takes hours, ONLY=submit,events chooses
	$(GO) run ./tests/system -size $(SIZE) $(if $(ONLY),-only $(ONLY))

papers: ## reproduce the published values of the five papers, print them beside ours, and draw charts into docs/img
	@$(GO) run ./papers -charts docs/img

cover: ## measure which statements the tests reach, across packages
	mkdir -p .cache
	$(GO) test -tags $(TAGS) -timeout 40m -coverpkg=./... -coverprofile=.cache/cover.out $(PACKAGES)
	$(GO) tool cover -func=.cache/cover.out | tail -n 1
	$(GO) tool cover -html=.cache/cover.out -o .cache/cover.html

mutation: ## show which small changes of PACKAGE no test notices; ALSO='./tests/sim -seeds=20' runs more on what is left
	$(GO) run ./tests/mutation $(if $(ALSO),-also '$(ALSO)') $(PACKAGE)

mutants: ## show that the simulation finds each known mistake of tests/mutants
	scripts/mutants.sh

clean: ## remove what the other targets have built
	rm -rf bin .cache
