#!/usr/bin/env bash
# Records both sides of a change, in turns: what the machine does besides hits both alike.
set -eu
for i in 1 2 3 4 5; do
  stepscope run --quiet -o speed/before/$i examples/ci_gate/train.py "$@"
  stepscope run --quiet -o speed/after/$i examples/ci_gate/train_slower.py "$@"
done
