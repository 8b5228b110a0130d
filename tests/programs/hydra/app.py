"""A Hydra application that works in a folder of its own: a Lightning training with our profiler."""

import os
import pathlib
import sys

import hydra
from hydra.utils import instantiate

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lightning"))
sys.argv[1:1] = ["lightning.pytorch"]  # what `parts` reads
from parts import Classifier, loader, trainer  # noqa: E402

del sys.argv[1]


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(config):
    pathlib.Path("here.txt").write_text(os.getcwd())
    model = Classifier()
    trainer(profiler=instantiate(config.profiler), **config.trainer).fit(model, loader(config.batches))
    model.print_losses()


if __name__ == "__main__":
    main()
