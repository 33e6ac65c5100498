# `make check` while working, `make test` before handing on: that checks everything, and is what CI
# runs.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help aws bench bench-build bench-short bill browser-tests build check cold computed-tests deny docs e2e examples lint packages packages-test python-clients python-doors python-faults python-links python-mcp python-page python-policies python-replay python-rendered python-report python-sites python-tests quality release setup timed-tests test unit zips

# Every cargo command here has the same packages and features, so that the dependencies are compiled
# once for all.
# (Cargo counts the features of development dependencies only where it builds tests or examples.)
ALL := --workspace --all-features
NEXTEST := cargo nextest run $(ALL) --no-fail-fast --status-level slow --final-status-level fail

# Each set of tests, once. Those that compute all the time wait for no clock but their own, so they
# may be starved.
E2E := binary(e2e)
EMULATED := package(dragline-aws-tests)
BROWSED := package(dragline-browser-tests)
LONG := package(dragline-simulation) + package(dragline-protocol-model) + binary(judges) + test(/mutants/)
COMPUTED := $(LONG) + package(dragline-domain) + package(dragline-formats)

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: lint ## While working, some minutes once it is built: format, clippy, unit and property tests, a short simulation
	@DRAGLINE_SEEDS=$${DRAGLINE_SEEDS:-3} $(NEXTEST) -E 'all() - $(E2E) - $(EMULATED) - $(BROWSED) - ($(LONG)) + (package(dragline-simulation) - test(holds))'

test: ## Check everything; half an hour on two cores from a fresh clone
	@scripts/check-everything

setup: ## Fetch what the tests need, once for all checkouts: WARC readers, real sites, an AWS emulator
	@scripts/setup >/dev/null & readers=$$!; scripts/localstack setup && emulator=0 || emulator=$$?; wait $$readers && exit $$emulator

lint: ## Check the format, and run clippy without warnings
	@cargo fmt --all --check
	@scripts/columns
	@cargo clippy --quiet $(ALL) --all-targets -- -D warnings
	@# As it is built by itself: what it lacks without the feature does not show where all features are on.
	@cargo clippy --quiet --package dragline -- -D warnings

docs: ## Build the documentation
	@RUSTDOCFLAGS='-D warnings' cargo doc --quiet $(ALL) --no-deps --lib --bins --examples

examples: ## Run the examples in the documentation
	@cargo test --quiet $(ALL) --doc

deny: ## Check licences, advisories and unwanted crates, where cargo-deny is installed
	@if command -v cargo-deny >/dev/null; then cargo deny --log-level warn check; \
	else echo 'deny: skipped, cargo-deny is not installed (cargo install --locked cargo-deny)'; fi

# Two of the manuals are larger than all others together: those are for measuring, not for every
# run.
QUALITY := Sphinx DocBook AsciiDoc Doxygen GTK-Doc Javadoc Texinfo MkDocs Node.js Apache
quality: ## Compare the main parts of manuals with what their templates say, and fail if they got worse (docs/measurements/quality.md)
	@. scripts/cache.sh; bench/quality --profile dev --manuals "$$cache/manuals" $(QUALITY:%=--only %)

build: ## Build the tests and what they run: the command and the functions, in target/debug
	@cargo nextest run $(ALL) --cargo-quiet --no-run

unit: ## Run all Rust tests except the end-to-end ones and those that need an AWS emulator or a browser
	@$(NEXTEST) -E 'all() - $(E2E) - $(EMULATED) - $(BROWSED)'

# They check pace and whole runs, so each has the machine to itself.
e2e: setup build ## Run only the end-to-end tests
	@$(NEXTEST) --test-threads 1 -E '$(E2E)'

# Pages have limits of real time, so nothing else runs beside them.
browser-tests: build ## Render pages in headless Chromium, which is installed if it is missing
	@tests/browser_engine/run $(NEXTEST) -E '$(BROWSED)'

aws: setup build ## Run what needs an AWS emulator: adapters, commands, the deployed stack (docs/internals/testing-aws.md)
	@scripts/localstack run $(NEXTEST) -E '$(EMULATED)'
	@scripts/localstack test tests/deployed_stack

computed-tests:
	@nice -n 19 $(NEXTEST) --profile computed -E '$(COMPUTED)'

timed-tests:
	@scripts/localstack run --port 0 $(NEXTEST) --profile timed -E 'all() - ($(COMPUTED)) - $(E2E) - $(BROWSED)'

# These tests mostly wait, so they run in parallel parts, those for AWS each with an emulator
# (docs/internals/testing-aws.md). The faults wait longest, so they are deployed first, and the
# small tests run while they wait.
python-tests:
	@$(MAKE) --no-print-directory --jobs=3 --keep-going --output-sync=target python-faults python-sites python-policies python-clients python-doors python-links python-rendered python-report python-page python-replay python-mcp

SITES := tests/deployed_stack/test_whole_sites.py tests/deployed_stack/test_api.py tests/deployed_stack/test_rendering.py
POLICIES := tests/deployed_stack/policies

python-faults:
	@scripts/localstack test tests/localstack tests/deployed_stack tests/bill bench $(addprefix --ignore=,$(SITES) $(POLICIES)) --durations=10

python-sites:
	@nice -n 2 scripts/localstack test $(SITES) --durations=10

python-policies:
	@nice -n 2 scripts/localstack test $(POLICIES) --durations=10

python-clients:
	@nice -n 2 tests/clients/run --durations=5

python-doors:
	@nice -n 2 tests/doors/run --durations=5

python-links:
	@nice -n 2 tests/links/run --durations=5

python-rendered:
	@nice -n 2 tests/rendered/run --durations=5

python-report:
	@nice -n 2 tests/browser/run tests/report_page --durations=5

python-page:
	@nice -n 2 tests/browser/run tests/server_page --durations=5

python-replay:
	@nice -n 2 tests/browser/run tests/replay_page --durations=5

python-mcp:
	@nice -n 2 tests/mcp/run --durations=5

# Release builds take minutes, so `make test` leaves them to CI.
release: ## Build the optimised command, test whole sites with it and count its instructions
	@scripts/shipped release

zips: ## Build the functions' zips for deployment and measure them
	@scripts/shipped zips

packages: ## Build packages of the command for this machine in target/packages (scripts/packages --help)
	@scripts/packages

packages-test: ## Install each of those packages into an empty place, and crawl a small site with it
	@scripts/packages test
	@tests/packages/newcomer

bench: setup bench-build ## Measure whole crawls beside other crawlers, and the stages of a crawl (docs/measurements/performance.md; bench/run --help for more)
	@bench/run
	@bench/run --stages

bench-short: ## Count the instructions of a page, and fail if they have grown by a quarter since they were recorded (part of release)
	@cargo build --quiet --release --package dragline --bin dragline
	@cargo build --quiet $(ALL) --bin bench-server --examples
	@bench/run --short --server target/debug/bench-server

# The command is built by itself, as it is released: with another package, Cargo would unify their
# features.
bench-build:
	@cargo build --quiet --release --package dragline --bin dragline
	@cargo build --quiet --release --package dragline-bench --bin bench-server

bill: ## Measure on an emulator what a million pages cost on AWS (docs/measurements/bill.md)
	@scripts/bill

cold: ## Measure the functions' cold starts and sizes, built for this machine
	@cargo build --quiet --release --package dragline-functions
	@cargo run --quiet --package dragline-functions --example cold_start -- target/release
