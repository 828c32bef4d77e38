# make demo   sets up what it needs and runs the main job: a Bioloid in the CEABOT obstacle race
#             (LAYOUT=random for other boxes, MOTIONS=file.mtn to walk on your own vendor file)
# make test   sets up what it needs and runs lint, types and tests
# make lint   style and types only
# make bench  speed, as ratios to the raw engine in the same run
# make lock   renew requirements.lock after a change of dependencies

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LAYOUT ?= example_1

.PHONY: demo test lint bench lock clean

demo: $(STAMP)
	@mkdir -p out
	$(BIN)/posewright run obstacle-race --layout $(LAYOUT) $(if $(MOTIONS),--motions $(MOTIONS)) \
	  --plot out/race.png --record out/race.mcap
	@echo "picture: out/race.png   recording: out/race.mcap (open it in Foxglove, or: $(BIN)/posewright replay out/race.mcap)"

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

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
