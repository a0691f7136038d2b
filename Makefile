# Crosswind. `make demo` shows what it does, `make test` checks everything. Both set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST := $(shell find crates -name '*.rs' -o -name 'Cargo.toml' 2>/dev/null) Cargo.toml Cargo.lock
DEMO := out/demo
REPRODUCED := out/jarvinen-2006/w2-e0

.DEFAULT_GOAL := help
.PHONY: help setup engine demo stacks test rust-tests-built lint format bench bench-instructions bench-report docs validate validate-kernel stack-versions stack-hashes mixed twin twin-paired live fuzz mutants wheel wheels sdist lock optional-tools clean

help:
	@echo "make demo      build, run one example scenario and one published experiment (about three minutes)"
	@echo "make stacks    build with real stacks (quinn, noq, smoltcp) as ends of flows, and run them beside TCP; docs/how-to/stacks.md"
	@echo "make test      all tests and checks; prints counts and what was skipped"
	@echo "make lint      formatting, clippy, ruff, mypy, tidy"
	@echo "make bench     packets per CPU second, side by side with ns-2 and ns-3 where they are installed"
	@echo "               make bench-instructions: by callgrind; make bench-report: all of it, to docs/performance.md"
	@echo "make validate  the same scenarios here and in ns-2, compared"
	@echo "make validate-kernel  the same shapers here and in the Linux kernel, compared (root)"
	@echo "make stack-versions  by what each release of quinn-proto cuts its window"
	@echo "make stack-hashes  whether the optimised build of real stacks sends the bytes that are stored (make test: the build for tests)"
	@echo "make mixed     TCP and quinn on one queue, simulated and in real time, compared (after make stacks; root, or a user namespace)"
	@echo "make twin      the same scenarios here and between real hosts, compared (root, or a user namespace)"
	@echo "make twin-paired  BBR and CUBIC here and in the kernel, the same draws; TWIN_REPS (12) repetitions"
	@echo "make live      workloads of [Jarvinen 2006] between real kernels of today (root, or a user namespace)"
	@echo "make fuzz      random scenarios for FUZZ_SECONDS (600), with everything that must hold for each"
	@echo "make mutants   changes the algorithms in one place at a time for MUTANTS_SECONDS (600): do the tests notice?"
	@echo "make docs      the documentation site in site/, with every link checked"
	@echo "make wheel     a wheel in dist/, tried out in an empty environment"
	@echo "make wheels    wheels for Linux (x86-64, aarch64) and macOS, by zig;  make sdist  the source, tried out in an empty environment"
	@echo "make setup     only build;  make clean  remove everything that was built"

setup: $(VENV)/.built

$(VENV)/.installed: requirements.lock
	@sh tools/need.sh $(PYTHON)
	@echo "== Python environment in $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@touch $@

$(VENV)/.installed-all: $(VENV)/.installed requirements-all.lock
	@echo "== What tests and documentation need"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-all.lock
	@touch $@

$(VENV)/.built: $(VENV)/.installed $(RUST) pyproject.toml tools/rustflags.sh
	@sh tools/need.sh $(PYTHON)
	@echo "== Building the engine (release)"
	@VIRTUAL_ENV="$(CURDIR)/$(VENV)" PATH="$(CURDIR)/$(BIN):$$PATH" RUSTFLAGS="$${RUSTFLAGS-$$(sh tools/rustflags.sh)}" \
	  $(BIN)/maturin develop --release \
	  > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	@$(BIN)/crosswind schema --out scenarios/scenario.schema.json > /dev/null
	@touch $@

# The first result of a fresh clone waits for a build that takes less of it (docs/decisions/0045-two-builds.md).
$(VENV)/.built-quick: $(VENV)/.installed $(RUST) pyproject.toml
	@sh tools/need.sh $(PYTHON)
	@echo "== Building the engine (quick; make setup builds the one that simulates faster)"
	@VIRTUAL_ENV="$(CURDIR)/$(VENV)" PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin develop --profile quick \
	  > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	@$(BIN)/crosswind schema --out scenarios/scenario.schema.json > /dev/null
	@touch $@

# The engine that is there when this is reached (`make setup test`); where none is, the one that is built sooner.
engine:
	@$(MAKE) --no-print-directory $$(test -e $(VENV)/.built && echo $(VENV)/.built || echo $(VENV)/.built-quick)

demo: engine
	$(BIN)/crosswind run scenarios/gprs.toml --out $(DEMO)
	@code=0; $(BIN)/crosswind reproduce jarvinen-2006/w2-e0 --out $(REPRODUCED) || code=$$?; \
	  if [ $$code -gt 1 ]; then exit $$code; fi; echo; \
	  if [ $$code -eq 1 ]; then echo "Some published claims were not met; the table and the report say which."; fi; \
	  echo "Open these in a browser:"; \
	  echo "  $(CURDIR)/$(DEMO)/report.html"; echo "  $(CURDIR)/$(REPRODUCED)/report.html"

# Another build of the engine in the same place; `make clean setup` brings the usual one back.
stacks: $(VENV)/.installed
	@sh tools/need.sh $(PYTHON)
	@echo "== Building the engine with real stacks (release)"
	@VIRTUAL_ENV="$(CURDIR)/$(VENV)" PATH="$(CURDIR)/$(BIN):$$PATH" RUSTFLAGS="$${RUSTFLAGS-$$(sh tools/rustflags.sh)}" \
	  $(BIN)/maturin develop --release --features stacks \
	  > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	@touch $(VENV)/.built
	$(BIN)/crosswind run crates/stacks/scenarios/beside-tcp.toml --out out/stacks

# The Rust tests are built beside the engine. What fails there, their stage tells.
test: $(VENV)/.installed-all optional-tools
	@$(MAKE) --no-print-directory -j2 engine rust-tests-built
	@$(BIN)/python tools/check.py all

rust-tests-built:
	@cargo test --quiet --workspace --exclude crosswind-py --no-run > /dev/null 2>&1 || true

lint: setup $(VENV)/.installed-all
	@$(BIN)/python tools/check.py lint

format: $(VENV)/.installed-all
	cargo fmt --all
	$(BIN)/ruff check --fix python tools validation
	$(BIN)/ruff format python tools validation

optional-tools:
	@sh tools/optional-tools.sh

bench: setup
	@echo "Beside ns-2 and ns-3 where they are installed (Debian: ns2; libns3-dev and g++); nothing is installed here."
	$(BIN)/crosswind bench

bench-instructions: setup
	@echo "Needs valgrind (Debian: valgrind); builds one example program in target/instructions."
	$(BIN)/crosswind bench --only instructions

bench-report: setup $(VENV)/.installed-all
	@echo "All benchmarks, about a quarter of an hour; leave the machine alone meanwhile."
	$(BIN)/crosswind bench --report docs

docs: setup $(VENV)/.installed-all
	$(BIN)/python tools/results.py
	$(BIN)/crosswind explain all --out docs/phenomena > /dev/null
	$(BIN)/python tools/docs_site.py

validate: setup $(VENV)/.installed-all
	$(BIN)/python -m validation

validate-kernel: setup $(VENV)/.installed-all
	$(BIN)/python -m validation.kernel

twin: setup $(VENV)/.installed-all
	@echo "About a quarter of an hour in real time; other programs on this machine disturb it."
	$(BIN)/python -m validation.twin

stack-versions: setup
	@echo "Seven releases of quinn-proto are built, the first one with everything that it needs: minutes."
	$(BIN)/python -m validation.stack_versions

stack-hashes:
	cargo test --profile quick -p crosswind-stacks --test stored

mixed: $(VENV)/.installed-all
	@echo "In real time: a minute for each of the repetitions; other programs on this machine disturb it."
	$(BIN)/python -m validation.mixed

TWIN_REPS ?= 12

twin-paired: setup $(VENV)/.installed-all
	@echo "In real time: 28 s x 26 runs x TWIN_REPS / 4; other programs on this machine disturb it."
	$(BIN)/python -m validation.twin.paired --reps $(TWIN_REPS)

live: setup $(VENV)/.installed-all
	@echo "A quarter of an hour in real time."
	$(BIN)/python -m validation.live
	$(BIN)/python -m validation.under_load

FUZZ_SECONDS ?= 600

fuzz: setup
	$(BIN)/python -m validation.fuzz --seconds $(FUZZ_SECONDS)

MUTANTS_SECONDS ?= 600

mutants: $(VENV)/.installed
	@command -v cargo-mutants > /dev/null || { echo "needs cargo-mutants: cargo install cargo-mutants --locked"; exit 1; }
	$(BIN)/python tools/mutants.py --seconds $(MUTANTS_SECONDS)

wheel: $(VENV)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" RUSTFLAGS="$${RUSTFLAGS-$$(sh tools/rustflags.sh portable)}" \
	  $(BIN)/maturin build --release --out dist
	$(BIN)/python tools/wheel_check.py

# For other machines than this one. Zig links; needs the targets of Rust: rustup target add $(TARGETS)
TARGETS ?= x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-apple-darwin

wheels: $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin[zig]' cargo-zigbuild
	for target in $(TARGETS); do PATH="$(CURDIR)/$(BIN):$$PATH" RUSTFLAGS="$$(sh tools/rustflags.sh portable)" \
	  $(BIN)/maturin build --release --zig --target $$target --out dist || exit 1; done
	$(BIN)/python tools/wheel_check.py

sdist: $(VENV)/.installed
	$(BIN)/maturin sdist --out dist
	$(BIN)/python tools/wheel_check.py dist/*.tar.gz

lock: $(VENV)/.installed-all
	$(BIN)/python tools/lock.py

clean:
	rm -rf $(VENV) target dist out python/crosswind/_core*.so
