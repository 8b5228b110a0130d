"""Records two trainings in blocks, and looks whether anything of it is left in Lightning."""

import os
import sys
import tempfile

from parts import Classifier, lightning, loader, trainer

import stepscope


def own_profiler():
    class Own(lightning.profilers.Profiler):
        def start(self, action_name):
            pass

        def stop(self, action_name):
            pass

    return Own


def functions_of(kinds):
    return {
        f"{kind.__module__}.{kind.__qualname__}.{name}": id(value)
        for kind in kinds
        for name, value in vars(kind).items()
        if callable(value)
    }


def lightnings():
    """The functions of every class of Lightning's, and one that is in no class."""
    modules = [module for name, module in sys.modules.items() if name.startswith("lightning.")]
    things = [thing for module in modules for thing in vars(module).values()]
    call = sys.modules["lightning.pytorch.trainer.call"]
    return {**functions_of({thing for thing in things if isinstance(thing, type)}), "_interrupt": id(call._interrupt)}


trainer(max_epochs=1).fit(Classifier(), loader(3), loader(1))  # what Lightning itself changes is changed
for chosen in (None, own_profiler):
    before = lightnings()
    with tempfile.TemporaryDirectory() as folder, stepscope.Profiler(os.path.join(folder, "run")):
        kind = chosen() if chosen else None  # a class that Lightning's own classes know nothing of
        own = functions_of([kind]) if kind else {}
        run = trainer(max_epochs=1, profiler=kind() if kind else None, logger=lightning.loggers.CSVLogger(folder))
        run.fit(Classifier(), loader(3), loader(1))
        during = lightnings()
        changed = {name.rpartition(".")[2] for name, function in during.items() if before.get(name) != function}
        assert {"start", "stop", "profile", "advance", "_run", "log_metrics", "_interrupt"} <= changed, changed
        assert not kind or functions_of([kind]) != own
    after = lightnings()
    left = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    assert not left, left
    assert not kind or functions_of([kind]) == own
print("nothing is left")
