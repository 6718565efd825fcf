# A fresh Linux machine needs Node with npm, make and git; everything else is set up here.
BUN_VERSION := 1.4.5
export PATH := $(CURDIR)/.cache/bin:$(CURDIR)/node_modules/.bin:$(PATH)

PREFIX ?= $(HOME)/.local
BIN = $(DESTDIR)$(PREFIX)/bin
DIST ?= dist

UNIT = shared schemas tools test/house test/truth

.DEFAULT_GOAL := help
.PHONY: help setup demo install dist test test-unit test-sessions test-agents test-peers test-browser test-cluster test-task-runs test-hostile truth bench bench-cluster check fmt clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

# Bun from the PATH when it fits, else from the npm registry at the pinned version. A stamp, because make looks through
# links; our own directory is taken out of the PATH wherever it stands, because a make within make has it twice.
.cache/bun.stamp: package.json
	@mkdir -p .cache/bin
	@rm -f .cache/bin/bun
	@found=$$(PATH="$$(printf %s "$$PATH" | sed 's|$(CURDIR)/.cache/bin:||g')" command -v bun || true); \
	if [ -n "$$found" ] && printf '%s\n%s\n' $(BUN_VERSION) "$$("$$found" --version)" | sort -CV; then \
	  ln -sfn "$$found" .cache/bin/bun; \
	else \
	  echo "setting up Bun $(BUN_VERSION) from the npm registry"; \
	  npm install --prefix .cache/bun --no-save --no-package-lock --no-audit --no-fund --loglevel=error bun@$(BUN_VERSION) || exit 1; \
	  .cache/bun/node_modules/.bin/bun --version >/dev/null 2>&1 || node .cache/bun/node_modules/bun/install.js || exit 1; \
	  ln -sfn "$(CURDIR)/.cache/bun/node_modules/.bin/bun" .cache/bin/bun; \
	fi
	@.cache/bin/bun --version >/dev/null && touch $@

node_modules/.frozen: bun.lock package.json .cache/bun.stamp
	@bun install --frozen-lockfile --silent
	@touch $@

setup: node_modules/.frozen ## Bun and the packages of the lockfile

demo: setup ## two real programs compared on this machine
	@tools/k8sbench/main.ts compare --local --profile durable-store --turns 500 --allow-frequency-scaling --not-judged pass

install: setup ## one compiled binary with all tools into PREFIX/bin (default ~/.local/bin)
	@bun test/install/binary.ts "$(BIN)/k8sbench"
	@for name in $$(bun -p "Object.keys(require('./package.json').bin).filter((one) => one !== 'k8sbench').join(' ')"); do \
	  ln -sfn k8sbench "$(BIN)/$$name" || exit 1; \
	done
	@echo "installed '$(BIN)/k8sbench', and links to it for each tool: k8sbench-plan, …"

dist: setup ## release binaries for Linux x64 and arm64 into dist/, with their SHA256SUMS
	@for arch in x64 arm64; do bun test/install/binary.ts "$(DIST)/k8sbench-linux-$$arch" bun-linux-$$arch || exit 1; done
	@cd "$(DIST)" && sha256sum k8sbench-linux-* > SHA256SUMS && cat SHA256SUMS

test: setup ## every test that needs this machine alone, and as last line 'N passed, N failed'
	@bun test/run.ts $(UNIT) test/readme test/sessions test/install test/hostile

test-unit: setup ## the fast tests alone
	@bun test/run.ts $(UNIT)

test-sessions: setup ## real sessions on this machine
	@bun test/run.ts test/sessions

test-peers: setup ## with outside programs: Go, cargo and npm build bundles, benchstat and others read exports
	@bun test/run.ts test/bundle test/exports

test-agents: setup ## real coding agents of the npm registry, pinned, in every mode they have
	@bun test/run.ts test/agents

test-browser: setup ## pages in Debian's chromium
	@bun test/run.ts test/browser

# On somebody's cluster nothing is stopped, killed or restarted; one of our own is gone when this ends.
# What somebody's has to have, and all variables: test/cluster/the-cluster.ts.
test-cluster: setup ## a real Kubernetes: K8SBENCH_TEST_KUBECONFIG, or one started here as root
	@bun test/run.ts $(if $(K8SBENCH_TEST_KUBECONFIG),$(wildcard test/cluster/*.test.ts),test/cluster); status=$$?; \
	  bun test/cluster/own-cluster.ts; exit $$status

test-task-runs: setup ## whole runs of agents on tasks: a cluster with Services, a registry and volumes, by K8SBENCH_TEST_KUBE
	@bun test/run.ts test/task-runs

test-hostile: setup ## ten thousand hostile inputs per reader, and long loops of kills; prints its seeds
	@bun test/hostile/main.ts

truth: setup ## is the evidence true? simulated sessions with known truth, a report in test/truth
	@bun test/truth/main.ts

bench: setup ## ratios against peers on this machine, a table in test/bench
	@bun test/bench/main.ts

bench-cluster: setup ## ratios against peers in a cluster that is started here, as root; its part of the table
	@bun test/bench/cluster/main.ts

check: setup ## types, format, lint, tests
	@bun check --no-script
	@bun fmt --check schemas shared tools test
	@oxlint --quiet
	@$(MAKE) --no-print-directory test

fmt: setup ## format the code
	@bun fmt schemas shared tools test

clean: ## what make made
	@rm -rf node_modules .cache dist
