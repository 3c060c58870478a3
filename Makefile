# Everything is built from the module proxy; no target downloads a binary. What looks for mistakes in pages is of npm.
GO ?= go
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOTESTSUM := gotest.tools/gotestsum@v1.13.0
# runs tests beside other programs; when at most three fail, each once more, alone
AGAIN := $(GO) run $(GOTESTSUM) -f testname --rerun-fails=1 --rerun-fails-max-failures=3 --rerun-fails-run-root-test
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
export CGO_ENABLED = 0
# One set of flags, so that no package is compiled twice. Tests are linked without what debuggers
# read, which takes a third of the time, and are vetted by the linter. The linker, the tests and the
# programs that they start live for seconds: they collect garbage less often.
export GOFLAGS := $(GOFLAGS) -trimpath
TEST := GOGC=400 $(GO) test -vet=off -ldflags=-w

.PHONY: all release release-check vulncheck build test race ui e2e e2e-all e2e-long mutants golden lint fmt fuzz walk bench demo demos install minutes demo-clusters demo-failover demo-preview demo-rollout demo-update demo-services playground docs tidy check help

all: build test ## build and test

# Go stamps the version from git, but not in a linked work tree, whose .git is a file.
STAMP := $(if $(wildcard .git/HEAD),,$(shell TZ=UTC git log -1 --abbrev=12 --date=format-local:%Y%m%d%H%M%S --format='-ldflags=-X=main.version=v0.0.0-%cd-%h' 2>/dev/null))
build: ## build bin/waybill
	$(GO) build -buildvcs=auto $(STAMP) -o bin/ ./cmd/...

# What builds programs with the go command, or asks it: go does not know on what these tests depend, so that a result it has counts for
# nothing. Of the other tests one counts until their code, or a file that they read, is another.
ANEW = $(GO) list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... | sed -nE 's!^([^ ]*)\.test .*/test/(program|peers)( .*)?$$!\1!p'; $(GO) list ./test/arch
# Tests that say, in a line "counted: ...", how many cases of others hold.
COUNTED := ./policies/interpret/... ./reconciler/health
test: ## run every test whose last result does not count any more
	@test -d "$${WAYBILL_CORPUS:-../shared/corpus}" || echo "SKIPPED: what reads the manifests of others (test/corpus), because there are none; set WAYBILL_CORPUS" >&2
	@mkdir -p bin; anew=$$($(ANEW)); failed=0; \
	$(TEST) -count=1 -timeout 30m $$anew & \
	$(TEST) -v -timeout 30m $(COUNTED) >bin/counted.txt || { cat bin/counted.txt; failed=1; }; \
	$(TEST) -timeout 30m $$($(GO) list ./... | grep -vxF -e "$$anew" -e "$$($(GO) list $(COUNTED))") || failed=1; \
	wait $$! || failed=1; exit $$failed
	@sed -n 's/^.*counted: //p' bin/counted.txt

# what starts goroutines or shares memory; what it calls is watched, too. With -short what is long and runs nothing at once in its own
# process is left to make test.
CONCURRENT := ./reconciler ./reconciler/applier ./reconciler/observe ./reconciler/published ./reconciler/pulls ./reconciler/status/writer ./reconciler/clusters ./reconciler/clusters/survey ./reconciler/endpoints/push ./reconciler/facts ./reconciler/members ./reconciler/plan/manifest ./reconciler/replicas ./reconciler/serve ./reconciler/preview/store ./reconciler/traces ./reconciler/folderlog ./reconciler/ui ./reconciler/ui/login ./sources/forge ./sources/git ./sources/registry
race: ## test what runs at once with the race detector (needs a C compiler)
	CGO_ENABLED=1 $(TEST) -race -short -count=1 -timeout 30m $(CONCURRENT)

AXE := bin/axe/node_modules/axe-core/axe.min.js
$(AXE): test/ui/axe/package.json test/ui/axe/package-lock.json
	mkdir -p bin/axe && cp $^ bin/axe && npm ci --prefix bin/axe --ignore-scripts --no-audit --no-fund && touch $@

ui: $(AXE) ## open the pages in headless Chromium, with axe-core (needs the programs chromium and npm)
	$(AGAIN) --packages ./test/ui -- -tags e2e -ldflags=-w -count=1 -timeout 15m

# Without -short a test does all that it can; what is long, or measures cost, is skipped with it.
E2E := ./test/e2e ./test/registries ./test/attack ./test/hostile ./test/canaries ./test/publish
OUT ?= bin
E2E_AGAIN = @mkdir -p $(OUT); $(AGAIN) --jsonfile $(OUT)/e2e.json --rerun-fails-report $(OUT)/again.txt --packages "$(E2E)" --
E2E_FLAGS := -tags e2e -ldflags=-w -count=1 -p 1
e2e: ## run Waybill, Flux and Argo CD's engine on real clusters (built from their modules: 25 minutes of CPU, once), and attack the program
	$(E2E_AGAIN) $(E2E_FLAGS) -timeout 75m -parallel 6 -short

e2e-all: ## the same, with what is long or measures cost
	$(E2E_AGAIN) $(E2E_FLAGS) -timeout 3h -parallel 4

SEEDS ?= 60
STEPS ?= 300
KILLS ?= 300
LONG := ^Test(Faults|Seeds|BlackHole|ForgeIsDown|WalkOfClusters)$$
e2e-long: ## make every named fault, SEEDS=60 drawn ones, and a walk of STEPS=300 with KILLS=300, and write what came of it to docs/e2e-long.md
	$(TEST) -tags e2e -count=1 -timeout 4h -parallel 4 ./test/e2e -run '$(LONG)' -args -seeds $(SEEDS) -steps $(STEPS) -kills $(KILLS) -result ../../docs/e2e-long.md

# what matches in the name, the folder or the test of a bug
BUGS ?= .
AT_ONCE ?= 2
mutants: ## plant the bugs of test/mutants one at a time (BUGS=expression, AT_ONCE=2), and demand that each fails the test that it names
	$(GO) run ./test/mutants -p $(AT_ONCE) -run '$(BUGS)'

golden: ## rewrite the golden output of scenarios and commands
	$(GO) test ./test/scenario ./test/cli -update
	git diff --stat

lint: ## run golangci-lint at the pinned version
	$(GO) run $(GOLANGCI) run ./...

fmt: ## format
	$(GO) run $(GOLANGCI) fmt ./...

fuzz: ## run each fuzz target for 30 seconds
	@set -e; for f in $$(grep -rlE '^func Fuzz' --include=*_test.go .); do \
	  for t in $$(grep -oE '^func Fuzz[A-Za-z0-9]*' $$f | cut -c6-); do \
	    echo "$$f $$t"; $(GO) test ./$$(dirname $$f) -run '^$$' -fuzz "^$$t$$" -fuzztime 30s; done; done

SEED ?= $(shell date +%s)
RUNS ?= 500
walk: ## walk at random over small fleets: RUNS=500 SEED=now
	@echo "walks of 20 steps from seed $(SEED)"
	$(GO) test ./test/walk -count=1 -timeout 60m -v -run '^TestWalk$$' -walk.runs $(RUNS) -walk.seed $(SEED)

bench: ## measure Waybill against git and helm, then the benchmarks of the parts
	$(GO) run ./test/bench/table
	$(GO) test -run '^$$' -bench . -benchmem ./...

install: ## build what tests and demos run beside Waybill: control planes, Flux, Argo CD's engine, Gitea, helm
	$(GO) run ./test/install

minutes: ## write how long the last run of .ci/run took to docs/testing.md
	$(GO) run ./test/minutes

demo-clusters: ## show the whole way on three real clusters, built as for e2e
	$(GO) run ./test/demo clusters

demo-failover: ## show how work leaves a cluster that dies, on real clusters
	$(GO) run ./test/demo failover

demo-preview: ## show what a pull request at a real forge does to the clusters
	$(GO) run ./test/demo preview

demo-rollout: ## show how changes reach clusters in stages: approved, stopped, reverted, and while a cluster dies
	$(GO) run ./test/demo rollout

demo-update: ## show how a new image reaches clusters by a pull request, in stages, and how a bad one does not
	$(GO) run ./test/demo update

demo-services: ## show how clusters exchange a Service, over the death of one, and how an autoscaler in each scales it
	$(GO) run ./test/demo services

demos: ## show the six at once, one output after the other
	$(MAKE) -j6 --output-sync=target demo-clusters demo-failover demo-preview demo-rollout demo-update demo-services

playground: ## start two clusters with Flux, and a Git server, until Ctrl-C
	$(GO) run ./test/demo playground

demo: build ## show the whole way in a temporary folder
	bin/waybill demo

release: ## write archives, checksums, lists of materials and an image of the newest commit to dist
	$(GO) run ./test/release -out dist

release-check: ## make the release for this machine twice and compare
	$(TEST) -tags e2e -count=1 -timeout 20m ./test/release

# exits with 1 for what the database knows of the code that is called
vulncheck: ## run govulncheck; skipped aloud where its database cannot be had
	@out=$$($(GO) run $(GOVULNCHECK) ./... 2>&1); status=$$?; echo "$$out"; \
	if [ $$status != 0 ] && echo "$$out" | grep -q '"https://vuln.go.dev[^"]*":'; then \
	  echo "SKIPPED: govulncheck, because its database at vuln.go.dev cannot be had" >&2; exit 0; fi; exit $$status

docs: build ## write docs/commands.md and docs/schemas anew
	bin/waybill reference > docs/commands.md
	$(GO) test -count=1 ./test/schemas -run '^TestSchemasAreThoseOfTheCode$$' -update

tidy: ## fail if go.mod is not tidy
	$(GO) mod tidy -diff

check: tidy lint test ## what needs Go, git and make alone

help: ## print this
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'
