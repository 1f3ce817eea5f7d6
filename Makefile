# Every target works on a fresh Debian 12 with Swift 6.3 and make, and installs missing packages.

SWIFT ?= swift
SOURCES = Package.swift Sources Tests Migrations Examples Benchmarks

.PHONY: help deps test-deps build release man completions test test-transport kill-test power-cut-test simulate sanitize fuzz docs example demo lint format models schema rules bench bench-engine clean

help: ## Lists the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

deps: ## Installs liblmdb-dev if it is missing
	@.ci/install-lmdb

test-deps: deps ## Installs what the tests need, too: Python's lmdb, nginx, openssl, shells, mandoc
	@.ci/install-python-lmdb
	@.ci/install-nginx
	@.ci/install-shells

build: deps ## Builds all targets and tests in the debug configuration
	$(SWIFT) build --build-tests --traits AsyncHTTPClient

release: deps ## Builds the command-line tool in the release configuration
	$(SWIFT) build -c release --product dlstore

# The tool that prints the pages and scripts; a package sets it to the binary that it has built.
DLSTORE ?= $$($(SWIFT) build -c release --show-bin-path)/dlstore

man: ## Writes the manual pages to .build/man; needs `make release`
	$(DLSTORE) generate-manual .build/man

completions: ## Writes the completion scripts of bash, zsh and fish; needs `make release`
	mkdir -p .build/completions
	$(DLSTORE) --generate-completion-script bash > .build/completions/dlstore.bash
	$(DLSTORE) --generate-completion-script zsh > .build/completions/_dlstore
	$(DLSTORE) --generate-completion-script fish > .build/completions/dlstore.fish

test: test-deps ## Runs all tests but those of AsyncHTTPClient
	@.ci/test

test-transport: test-deps ## Runs the tests of the transports and the engine again, over AsyncHTTPClient
	@.ci/test-transport

kill-test: test-deps ## Kills engines and commands 1000 times, and checks the guarantees each time
	DLSTORE_KILLS=1000 .ci/test KillTests.KillTests

power-cut-test: test-deps ## Simulates power cuts at 1000 system calls of a recorded run
	DLSTORE_POWER_CUTS=1000 .ci/test PowerCutTests

simulate: deps ## Runs the engine under simulated faults; SEEDS=N of them, or SEED=N with a trace
	$(SWIFT) build -c release --product simulate
	$$($(SWIFT) build -c release --show-bin-path)/simulate \
	  $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),1000))

sanitize: deps ## Runs the tests of the libraries under ThreadSanitizer and AddressSanitizer
	.ci/sanitize thread
	.ci/sanitize address

fuzz: deps ## Fuzzes the readers of files and responses for a minute; N=SECONDS sets the time
	.ci/fuzz $(or $(N),60)

docs: deps ## Builds the documentation catalogues; warnings are errors
	.ci/check-docs

example: deps ## Builds and tests Examples/Inventory
	Examples/Inventory/check.sh

demo: deps ## Downloads three files, with a kill -9 in the middle
	@Examples/demo.sh

lint: ## Checks the format of the sources
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)

format: ## Formats the sources
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

models: deps ## Expands the record templates again, after a change of a template
	DLSTORE_RECORD_MODELS=1 .ci/test ObjectStoreMacrosTests.RecordTemplateTests
	$(SWIFT) format --in-place Sources/DownloadStore/Records/*.swift

schema: deps ## Writes Migrations/schema.lock.json from the models
	DLSTORE_RECORD_SCHEMA=1 .ci/test MigrationsTests.SchemaLockTests

rules: deps ## Writes the rule table in docs/reconciliation.md from the code
	DLSTORE_RULE_TABLE=1 .ci/test DownloadCommandsTests.RuleTableTests

bench: deps ## Compares ObjectStore with raw LMDB and GRDB; N=100000 for a quick run
	cd Benchmarks && $(SWIFT) run -c release bench $(or $(N),1000000)

bench-engine: deps release ## Measures the engine, and aria2c for comparison; needs nginx and aria2c
	cd Benchmarks && $(SWIFT) run -c release engine-cost
	cd Benchmarks && $(SWIFT) run -c release command-latency
	Benchmarks/transfers.py --tool "$$($(SWIFT) build -c release --show-bin-path)/dlstore"

clean: ## Deletes all build products
	rm -rf .build .demo Benchmarks/.build Examples/Inventory/.build Tests/Macros/.build
