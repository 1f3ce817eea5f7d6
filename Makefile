# Every target works on a fresh Debian 12 with Swift 6.3 and make, and installs missing packages.

SWIFT ?= swift
SOURCES = Package.swift Sources Tests Migrations Examples Benchmarks

# The folders of `make install`; DESTDIR is put in front of them.
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/dlstore
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS ?= $(PREFIX)/share/fish/vendor_completions.d
SYSTEMD_USER_UNITS ?= $(PREFIX)/lib/systemd/user
RELEASED = .build/release/dlstore
RELEASED_OBJECTSTORE = .build/release/objectstore

.PHONY: help deps test-deps package-deps build release man completions install uninstall package model test test-transport kill-test power-cut-test simulate sanitize check-long fuzz docs example demo lint format models schema rules bench bench-commit bench-migrations bench-scale bench-completions bench-engine bench-serve compare-resume instructions accept-instructions clean

help: ## Lists the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

deps: ## Installs liblmdb-dev if it is missing
	@.ci/install lmdb

test-deps: ## Installs what the tests need: LMDB, nginx, shells, tmux and more, and Python's lmdb
	@.ci/install lmdb tests
	@.ci/install-python-lmdb

package-deps:
	@.ci/install packages

build: deps ## Builds all targets and tests in the debug configuration
	.ci/swift-build --build-tests

release: deps ## Builds the tools as they are released, with their manual pages and completions
	@.ci/build-release dlstore objectstore
	@$(MAKE) --no-print-directory man completions

install: ## Installs what `make release` built; PREFIX=/usr/local and DESTDIR= set the folders
	@for tool in $(RELEASED) $(RELEASED_OBJECTSTORE); do \
	  test -x $$tool || { echo "$$tool is missing: run 'make release' first" >&2; exit 1; }; \
	done
	install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(MANDIR)/man1" "$(DESTDIR)$(DOCDIR)" \
	  "$(DESTDIR)$(BASH_COMPLETIONS)" "$(DESTDIR)$(ZSH_COMPLETIONS)" \
	  "$(DESTDIR)$(FISH_COMPLETIONS)" "$(DESTDIR)$(SYSTEMD_USER_UNITS)"
	install -m 755 -s $(RELEASED) "$(DESTDIR)$(BINDIR)/dlstore"
	install -m 755 -s $(RELEASED_OBJECTSTORE) "$(DESTDIR)$(BINDIR)/objectstore"
	for page in .build/man/*.1; do \
	  if [ -e "$$page" ]; then install -m 644 "$$page" "$(DESTDIR)$(MANDIR)/man1"; fi; \
	done
	for tool in dlstore objectstore; do \
	  for file in $$tool.bash:"$(BASH_COMPLETIONS)/$$tool" \
	    _$$tool:"$(ZSH_COMPLETIONS)/_$$tool" \
	    $$tool.fish:"$(FISH_COMPLETIONS)/$$tool.fish"; do \
	    from=.build/completions/$${file%%:*}; \
	    if [ -e "$$from" ]; then install -m 644 "$$from" "$(DESTDIR)$${file#*:}"; fi; \
	  done; \
	done
	sed 's|@BINDIR@|$(BINDIR)|' .packaging/dlstore.service \
	  >"$(DESTDIR)$(SYSTEMD_USER_UNITS)/dlstore.service"
	chmod 644 "$(DESTDIR)$(SYSTEMD_USER_UNITS)/dlstore.service"
	install -m 644 LICENSE CHANGELOG.md docs/cli.md docs/objectstore.md docs/operations.md \
	  docs/reliability.md \
	  "$(DESTDIR)$(DOCDIR)"
	install -d "$(DESTDIR)$(DOCDIR)/cli"
	install -m 644 docs/cli/*.md "$(DESTDIR)$(DOCDIR)/cli"

uninstall: ## Deletes what `make install` installed with the same PREFIX and DESTDIR
	rm -f "$(DESTDIR)$(BINDIR)/dlstore" "$(DESTDIR)$(BASH_COMPLETIONS)/dlstore" \
	  "$(DESTDIR)$(ZSH_COMPLETIONS)/_dlstore" "$(DESTDIR)$(FISH_COMPLETIONS)/dlstore.fish" \
	  "$(DESTDIR)$(SYSTEMD_USER_UNITS)/dlstore.service" "$(DESTDIR)$(BINDIR)/objectstore" \
	  "$(DESTDIR)$(BASH_COMPLETIONS)/objectstore" "$(DESTDIR)$(ZSH_COMPLETIONS)/_objectstore" \
	  "$(DESTDIR)$(FISH_COMPLETIONS)/objectstore.fish"
	for tool in dlstore objectstore; do \
	  rm -f "$(DESTDIR)$(MANDIR)"/man1/$$tool.1 "$(DESTDIR)$(MANDIR)"/man1/$$tool-*.1; \
	done
	for file in LICENSE CHANGELOG.md cli.md objectstore.md operations.md reliability.md; do \
	  rm -f "$(DESTDIR)$(DOCDIR)/$$file"; \
	done
	for file in docs/cli/*.md; do rm -f "$(DESTDIR)$(DOCDIR)/$${file#docs/}"; done
	if [ -d "$(DESTDIR)$(DOCDIR)/cli" ]; then rmdir "$(DESTDIR)$(DOCDIR)/cli"; fi
	if [ -d "$(DESTDIR)$(DOCDIR)" ]; then rmdir "$(DESTDIR)$(DOCDIR)"; fi

package: release package-deps ## Builds a Debian package of the tools in .build/package
	@.packaging/make-deb .build/package

# The tools that print the pages and scripts; a package sets them to the binaries that it has built.
DLSTORE ?= $(RELEASED)
OBJECTSTORE ?= $(RELEASED_OBJECTSTORE)

man: ## Writes the manual pages to .build/man; needs `make release`
	$(DLSTORE) generate-manual .build/man
	$(OBJECTSTORE) generate-manual .build/man

completions: ## Writes the completion scripts of bash, zsh and fish; needs `make release`
	mkdir -p .build/completions
	for tool in $(DLSTORE) $(OBJECTSTORE); do \
	  name=$${tool##*/}; \
	  $$tool --generate-completion-script bash > .build/completions/$$name.bash && \
	  $$tool --generate-completion-script zsh > .build/completions/_$$name && \
	  $$tool --generate-completion-script fish > .build/completions/$$name.fish || exit 1; \
	done

test: test-deps ## Runs all tests but those of AsyncHTTPClient
	@.ci/test

test-transport: test-deps ## Runs the tests of the transports and the engine again, over AsyncHTTPClient
	@.ci/test-transport

browser-test: deps ## Checks the pages of `dlstore serve` in a browser; ARGUMENTS="--pictures FOLDER" keeps pictures
	@.ci/install browser
	@.ci/install-playwright
	.ci/test-build --product dlstore
	.build/browser/bin/python3 Tests/Browser/check.py $(ARGUMENTS)

model: ## Checks the model of replacements of data.mdb with Spin; ARGUMENTS=--long for more processes
	@.ci/install model
	@Tests/Models/check $(ARGUMENTS)

kill-test: test-deps ## Kills engines, commands and migrations 1000 times, and checks the guarantees each time
	TEST_SECONDS=14400 DLSTORE_KILLS=1000 .ci/test KillTests.KillTests ObjectStoreTests.MigrationKillTests

power-cut-test: test-deps ## Simulates power cuts at 1000 system calls of a recorded run
	TEST_SECONDS=14400 DLSTORE_POWER_CUTS=1000 .ci/test KillTests.PowerCutTests KillTests.RecordedDiskTests

simulate: deps ## Runs the engine under simulated faults; SEEDS=N of them, or SEED=N with a trace
	$$(.ci/build-release simulate)/simulate \
	  $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),1000))

sanitize: deps ## Runs the tests of the libraries under ThreadSanitizer and AddressSanitizer
	.ci/sanitize thread
	.ci/sanitize address

check-long: test-deps ## Runs what takes too long for each change: hours; before a release
	.ci/sanitize address
	$(MAKE) --no-print-directory model ARGUMENTS=--long
	$(MAKE) --no-print-directory kill-test power-cut-test simulate SEEDS=100000
	$(MAKE) --no-print-directory fuzz N=600

fuzz: deps ## Fuzzes the readers of files and responses for a minute; N=SECONDS sets the time
	.ci/fuzz $(or $(N),60)

docs: deps ## Builds the documentation catalogues; warnings are errors
	.ci/check-docs

example: deps ## Builds and tests the programs in Examples, the puller with a registry
	@.ci/install registry
	SCRATCH=$(CURDIR)/.build/macros Examples/Inventory/check.sh
	.ci/test-build --product pull
	Examples/Pull/check.py .build/tests/release/pull
	.ci/test-build --product snapshot
	Examples/Snapshot/check.py .build/tests/release/snapshot

demo: deps ## Downloads three files, with a kill -9 in the middle
	@Examples/demo.sh

lint: ## Checks the format of the sources
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)

format: ## Formats the sources
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

models: deps ## Expands the record templates again, after a change of a template
	DLSTORE_RECORD_MODELS=1 .ci/test ObjectStoreMacrosTests.RecordTemplateTests
	$(SWIFT) format --in-place Sources/DownloadStore/Records/*.swift

schema: deps ## Writes Migrations/schema.lock.json from the models; COMMAND=check and release
	$(SWIFT) run --traits AsyncHTTPClient,Server,Metrics download-schema $(or $(COMMAND),accept)

rules: deps ## Writes the tables in docs/reconciliation.md and docs/state-machine.md from the code
	DLSTORE_RULE_TABLE=1 .ci/test DownloadCommandsTests.RuleTableTests \
	  DownloadStoreTests.StateMachinePageTests

bench: deps ## Compares ObjectStore with raw LMDB and GRDB; N=100000 for a quick run
	cd Benchmarks && $(SWIFT) run -c release bench $(or $(N),1000000)
	Benchmarks/performance.py --take comparison Benchmarks/.build/bench.json

bench-commit: deps ## Compares one durable commit with raw C, and with commits that tasks share
	cd Benchmarks && $(SWIFT) run -c release bench 20000 --rows commit,tasks --repetitions 3 \
	  --contenders "ObjectStore,C hsplit,GRDB statements" --json .build/commit.json
	Benchmarks/performance.py --take commit Benchmarks/.build/commit.json

bench-migrations: deps ## Measures what changes of a schema cost, beside GRDB's migrations; N=100000 for a quick run
	cd Benchmarks && $(SWIFT) run -c release migrations $(or $(N),1000000)
	Benchmarks/performance.py --take migrations Benchmarks/.build/migrations.json

bench-scale: deps release ## Measures the tool with up to a million downloads; N=10000000 for more; needs nginx
	cd Benchmarks && $(SWIFT) build -c release --product bench
	Benchmarks/scale.py --tool $(RELEASED) --bench Benchmarks/.build/release/bench \
	  $(if $(N),--most $(N)) --json .build/scale.json
	Benchmarks/performance.py --take scale .build/scale.json

# On the disk, and in memory, which shows what the disk and its file system cost.
MILLION = --least 2000000 --most 2000000 --files 2000000 --only "run, small files"
bench-completions: deps release ## Lets an engine download a million small files, twice; takes 20 minutes, needs nginx
	Benchmarks/scale.py --tool $(RELEASED) $(MILLION) --json .build/completions.json
	Benchmarks/scale.py --tool $(RELEASED) $(MILLION) --folder /dev/shm \
	  --json .build/completions-memory.json
	Benchmarks/performance.py --take completions .build/completions.json
	Benchmarks/performance.py --take completions-memory .build/completions-memory.json

bench-engine: deps release ## Measures the engine, beside curl and aria2c; needs nginx, curl and aria2c
	cd Benchmarks && $(SWIFT) run -c release engine-cost --json .build/engine.json
	cd Benchmarks && $(SWIFT) run -c release command-latency --json .build/commands.json
	Benchmarks/transfers.py --tool $(RELEASED) --json .build/transfers.json
	Benchmarks/connections.py --tool $(RELEASED) --json .build/connections.json
	Benchmarks/performance.py --take engine Benchmarks/.build/engine.json
	Benchmarks/performance.py --take commands Benchmarks/.build/commands.json
	Benchmarks/performance.py --take transfers .build/transfers.json
	Benchmarks/performance.py --take connections .build/connections.json

bench-serve: deps release ## Measures the first paint of pages with a million downloads, and what tabs cost a transfer; needs nginx
	@.ci/install browser
	@.ci/install-playwright
	.build/browser/bin/python3 Benchmarks/serve-page.py --tool $(RELEASED)

compare-resume: release ## Resumes interrupted downloads with dlstore, aria2c, wget, curl and huggingface_hub; writes the table in README.md
	-@.ci/install python compare
	@.ci/install-huggingface-hub
	Benchmarks/compare-resume.py --tool $(RELEASED) --python .build/huggingface-hub/bin/python3 \
	  --readme

instructions: deps ## Counts the instructions of the hot operations; fails if a count changed by 3 %
	@.ci/install counts
	Benchmarks/instructions.py --check

accept-instructions: deps ## Accepts the current instruction counts; the commit must say why
	@.ci/install counts
	Benchmarks/instructions.py --accept
	Benchmarks/performance.py --write

clean: ## Deletes all build products
	rm -rf .build .demo Benchmarks/.build Examples/Inventory/.build Tests/Macros/.build
