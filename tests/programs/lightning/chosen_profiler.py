"""With a profiler: the second argument says whose, the third its mode, the fourth a file's name."""

import importlib
import sys

from parts import Classifier, loader, trainer

where, mode, *rest = sys.argv[2:]
options = {"dirpath": rest[0], "filename": rest[1]} if rest else {}
if where == "lightning":
    from parts import lightning

    names = {"simple": "SimpleProfiler", "advanced": "AdvancedProfiler", "pytorch": "PyTorchProfiler"}
    profiler = getattr(lightning.profilers, names[mode])(**options)
else:
    profiler = importlib.import_module("stepscope.lightning").Profiler(mode=mode, **options)
model = Classifier()
trainer(max_epochs=2, profiler=profiler).fit(model, loader(12), loader(3))
model.print_losses()
