#!/usr/bin/env bash
# Records both sides of the fix, in turns: what the machine does besides hits both alike.
set -eu
for i in 1 2 3 4 5; do
  stepscope run --quiet -o proof/slow/$i examples/vae_torch/train.py "$@" | tail -n 1
  stepscope run --quiet -o proof/fixed/$i examples/vae_torch/train_fixed.py "$@" | tail -n 1
done
