# One command checks everything: `make test`. CI runs the same one.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help aws bench setup build lint docs deny unit e2e test

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Fetch what the tests need into .cache: WARC readers, real sites
	@scripts/setup

build: ## Build the dragline command, optimised
	@cargo build --quiet --release --package dragline --bin dragline

lint: ## Check the format, and clippy without a warning
	@cargo fmt --all --check
	@cargo clippy --quiet --workspace --all-targets -- -D warnings
	@cargo clippy --quiet --package dragline --features stack --all-targets -- -D warnings

docs: ## Build the documentation and run its examples
	@RUSTDOCFLAGS='-D warnings' cargo doc --quiet --workspace --no-deps
	@cargo test --quiet --workspace --doc

deny: ## Check licences, advisories and unwanted crates, where cargo-deny is installed
	@if command -v cargo-deny >/dev/null; then cargo deny --log-level warn check; \
	else echo 'deny: skipped, cargo-deny is not installed (cargo install --locked cargo-deny)'; fi

# The tests run last, so that their summary is what one sees. They need the release build: made here, its errors stand alone.
ifneq ($(shell command -v cargo-nextest),)
RUN := cargo nextest run --no-fail-fast --status-level slow --final-status-level fail
else
RUN := cargo test --quiet --no-fail-fast --all-targets
endif

# They need an emulator of AWS, which `make aws` starts.
NO_AWS := --exclude dragline-aws-conformance

unit: ## Run all tests but the end-to-end ones, and those that need an emulator of AWS
	@$(RUN) --workspace --exclude dragline-end-to-end $(NO_AWS)

aws: ## Run the tests of the AWS adapters against an emulator (docs/testing-aws.md)
	@scripts/localstack run $(RUN) --package dragline-aws-conformance

e2e: setup build ## Run the end-to-end tests alone
	@$(RUN) --package dragline-end-to-end

bench: setup build ## Measure whole crawls: time, CPU, memory (scripts/bench --large for a large site)
	@cargo build --quiet --release --package dragline-end-to-end --bin testsite
	@scripts/bench

test: setup lint docs deny build ## Check everything
	@$(RUN) --workspace $(NO_AWS)
	@$(RUN) --package dragline --features stack
