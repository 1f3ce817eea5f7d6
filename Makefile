# Every target works on a fresh Debian 12 with Swift 6.3 and make: what is missing is installed.

SWIFT ?= swift
SOURCES = Package.swift Sources Tests Migrations Examples Benchmarks

.PHONY: help deps test-deps build release test test-transport kill-test power-cut-test simulate sanitize fuzz docs example demo lint format models schema rules bench bench-engine clean

help: ## Says what there is to make
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

deps: ## Installs liblmdb-dev when it is missing
	@.ci/install-lmdb

test-deps: deps ## Installs what the tests need besides: Python's lmdb, and nginx
	@.ci/install-python-lmdb
	@.ci/install-nginx

build: deps ## Builds everything in debug
	$(SWIFT) build --build-tests

release: deps ## Builds the command line tool for use
	$(SWIFT) build -c release --product dlstore

test: test-deps ## Runs every test
	@.ci/test

test-transport: test-deps ## Runs the tests of transports over AsyncHTTPClient
	@.ci/test-transport

kill-test: test-deps ## Kills engines and commands a thousand times
	DLSTORE_KILLS=1000 $(SWIFT) test --disable-xctest --filter KillTests.KillTests

power-cut-test: test-deps ## Cuts the power at a thousand system calls of a recorded run
	DLSTORE_POWER_CUTS=1000 $(SWIFT) test --disable-xctest --filter '^PowerCutTests\.'

simulate: deps ## Runs the engine under simulated faults: SEEDS=10000 of them, or SEED=1234 with a trace
	$(SWIFT) build -c release --product simulate
	$$($(SWIFT) build -c release --show-bin-path)/simulate \
	  $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),1000))

sanitize: deps ## Runs the tests of the libraries under the thread and the address sanitizer
	.ci/sanitize thread
	.ci/sanitize address

fuzz: deps ## Feeds changed files and responses to what reads them; make fuzz N=600 for ten minutes
	.ci/fuzz $(or $(N),60)

docs: deps ## Builds the documentation catalogues; a warning is an error
	.ci/check-docs

example: deps ## Builds Examples/Inventory and runs a session of it
	Examples/Inventory/check.sh

demo: deps ## Downloads three files, is killed in the middle, goes on
	@Examples/demo.sh

lint: ## Checks the format
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)

format: ## Formats the sources
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

models: deps ## Expands the record templates anew
	DLSTORE_RECORD_MODELS=1 $(SWIFT) test --disable-xctest --filter RecordTemplateTests
	$(SWIFT) format --in-place Sources/DownloadStore/Records/*.swift

schema: deps ## Writes the schema lock anew
	DLSTORE_RECORD_SCHEMA=1 $(SWIFT) test --disable-xctest --filter SchemaLockTests

rules: deps ## Writes the rule table of docs/reconciliation.md anew
	DLSTORE_RULE_TABLE=1 $(SWIFT) test --disable-xctest --filter RuleTableTests

bench: deps ## Compares the store with raw LMDB and GRDB; make bench N=100000 for a quick one
	cd Benchmarks && $(SWIFT) run -c release bench $(or $(N),1000000)

bench-engine: deps release ## Measures the engine, and compares it with aria2c; needs nginx and aria2c
	cd Benchmarks && $(SWIFT) run -c release engine-cost
	cd Benchmarks && $(SWIFT) run -c release command-latency
	Benchmarks/transfers.py --tool "$$($(SWIFT) build -c release --show-bin-path)/dlstore"

clean: ## Removes what was built
	rm -rf .build .demo Benchmarks/.build Examples/Inventory/.build
