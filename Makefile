# make demo   sets up what it needs and runs the main job: a Bioloid in the CEABOT obstacle race
#             (LAYOUT=random for other boxes, MOTIONS=file.mtn to walk on your own vendor file)
# make test   sets up what it needs and runs lint, types and tests
# make fuzz   damages files for every reader for SECONDS (600), in child processes with limits; runs the random
#             tests with fresh seeds for as long; keeps what it finds in build/fuzz; kills verbs that write
#             KILLS times (100); takes ten million steps of generated C under sanitizers
# make lint   style and types only
# make bench  speed, as ratios to the raw engine in the same run
# make lock   renew requirements.lock after a change of dependencies

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LAYOUT ?= example_1
SECONDS ?= 600
KILLS ?= 100
TESTS ?= tests
# The W3C's cases for SCXML come with the source of python-statemachine; they are run from there, none is copied.
W3C := build/w3c/.fetched
W3C_SOURCE := python-statemachine==3.2.2

.PHONY: demo test fuzz lint bench lock clean

demo: $(STAMP)
	@mkdir -p out
	$(BIN)/posewright run obstacle-race --layout $(LAYOUT) $(if $(MOTIONS),--motions $(MOTIONS)) \
	  --plot out/race.png --record out/race.mcap
	@echo "picture: out/race.png   recording: out/race.mcap (open it in Foxglove, or: $(BIN)/posewright replay out/race.mcap)"

# Three workers on two cores: tests wait for processes that they start, and another worker runs meanwhile.
test: lint $(W3C)
	$(BIN)/python -m pytest -n 3 --dist worksteal

fuzz: $(STAMP)
	$(BIN)/python -m tests.house.fuzz --seconds $(SECONDS) --jobs 2
	$(BIN)/python tests/fuzz.py $(SECONDS) $(TESTS)
	POSEWRIGHT_KILLS=$(KILLS) $(BIN)/python -m pytest -q tests/house/test_kills.py
	$(BIN)/python -m tests.codegen.fuzz_generated 1e7

$(W3C): Makefile
	@mkdir -p $(@D)
	@if $(PYTHON) -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest $(@D) $(W3C_SOURCE) \
	  && tar -xzf $(@D)/python_statemachine-*.tar.gz -C $(@D); then touch $@; \
	  else echo "the W3C's cases for SCXML could not be fetched: their tests will be skipped"; fi

lint: $(STAMP)
	$(BIN)/ruff format --check src tests examples benchmarks
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m benchmarks

lock:
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet uv
	$(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --all-extras --upgrade --output-file requirements.lock pyproject.toml
	rm -rf $(VENV)-lock

$(STAMP): pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Posewright needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

clean:
	rm -rf $(VENV) out build dist
