# What a person types. CMake and CTest do the work; this file only names the steps.
#   make demo     see it work on this machine, with sample data
#   make test     build everything, unit tests, end-to-end tests
#   make bench    measures of docs/performance.md (all, or MEASURES="first-copy drain")
#   make format   clang-format over src/
#   make lint     direction of the layers, format, clang-tidy over what changed
JOBS ?= $(shell nproc)
BUILD := build/release
PYTHON := .venv/bin/python
PYTEST_ARGS ?=
MEASURES ?=

.PHONY: setup configure build binary demo test unit-test end-to-end bench format lint clean

setup:
	@tools/setup

configure: setup
	@test -f $(BUILD)/build.ninja || cmake --preset release

build: configure
	@cmake --build --preset release -j $(JOBS)

binary: configure
	@cmake --build --preset release -j $(JOBS) --target fjord

demo: binary
	@FJORD_PYTHON=$(PYTHON) $(BUILD)/bin/fjord demo

test: build
	@$(MAKE) --no-print-directory unit-test end-to-end

unit-test:
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS)

end-to-end:
	@$(PYTHON) -m pytest tests -m "not ci" $(PYTEST_ARGS)

bench: build
	@$(PYTHON) bench/run.py $(MEASURES)

format:
	@tools/format

lint: configure
	@BUILD=$(BUILD) JOBS=$(JOBS) tools/lint

clean:
	rm -rf $(BUILD)
