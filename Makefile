# One command checks everything: `make test`. CI runs the same one.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help aws bench bill cold setup build functions lint docs deny unit e2e test

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Fetch what the tests need, once for all checkouts: WARC readers, real sites, an emulator of AWS
	@scripts/setup >/dev/null & readers=$$!; scripts/localstack setup && emulator=0 || emulator=$$?; wait $$readers && exit $$emulator

build: ## Build the dragline command, optimised
	@cargo build --quiet --release --package dragline --bin dragline

lint: ## Check the format, and clippy without a warning
	@cargo fmt --all --check
	@cargo clippy --quiet --workspace --all-targets -- -D warnings
	@cargo clippy --quiet --workspace --all-targets $(WITH_STACK) -- -D warnings

docs: ## Build the documentation and run its examples
	@RUSTDOCFLAGS='-D warnings' cargo doc --quiet --workspace --no-deps
	@cargo test --quiet --workspace --doc

deny: ## Check licences, advisories and unwanted crates, where cargo-deny is installed
	@if command -v cargo-deny >/dev/null; then cargo deny --log-level warn check; \
	else echo 'deny: skipped, cargo-deny is not installed (cargo install --locked cargo-deny)'; fi

# The tests run last, so that their summary is what one sees. They need the release build: made here, its errors stand alone.
ifneq ($(shell command -v cargo-nextest),)
RUN := cargo nextest run --no-fail-fast --status-level slow --final-status-level fail
BUILD := cargo nextest run --cargo-quiet --no-run
else
RUN := cargo test --quiet --no-fail-fast --all-targets
BUILD := cargo test --quiet --no-run --all-targets
endif

# These need an emulator of AWS.
AWS := dragline-aws-conformance dragline-stack-commands
NO_AWS := $(AWS:%=--exclude %)
# The command that speaks to a stack. Without it the build has no SDK of AWS.
WITH_STACK := --features dragline/stack

unit: ## Run all tests but the end-to-end ones, and those that need an emulator of AWS
	@$(RUN) --workspace --exclude dragline-end-to-end $(NO_AWS)

functions: ## Build the four Lambda functions for this machine, where the tests deploy them from
	@cargo build --quiet --profile lambda --package dragline-scheduler --package dragline-crawler --package dragline-parser --package dragline-sweeper

aws: setup build functions ## Run what needs an emulator of AWS: adapters, commands, the deployed stack (docs/testing-aws.md)
	@scripts/localstack run $(RUN) $(AWS:%=--package %) --package dragline $(WITH_STACK)
	@scripts/localstack test tests/deployed_stack

e2e: setup build ## Run the end-to-end tests alone
	@$(RUN) --package dragline-end-to-end

bench: setup build ## Measure whole crawls: time, CPU, memory (scripts/bench --large for a large site)
	@cargo build --quiet --release --package dragline-end-to-end --bin testsite
	@scripts/bench

bill: functions ## Measure what a million pages cost on AWS, with an emulator (docs/bill.md)
	@scripts/bill

cold: functions ## Measure the functions' cold starts and sizes, built for this machine
	@cargo run --quiet --package dragline-lambda --features testing --example cold_start -- target/lambda

test: setup lint docs deny build functions ## Check everything
	@$(BUILD) --workspace $(WITH_STACK)
	@DRAGLINE_LOCALSTACK_PORT=0 scripts/localstack run $(RUN) --workspace $(WITH_STACK)
	@scripts/localstack test tests/localstack tests/deployed_stack tests/bill
