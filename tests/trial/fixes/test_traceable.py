"""Whether a step can be read once and run as a graph from then on, by its source."""

import ast
import textwrap
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stepscope.advise.evidence.source import Function, Text
from stepscope.model import Location
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Proposal, Refusal
from stepscope.trial.fixes.proposing.imports import modules_of
from stepscope.trial.fixes.proposing.named_function import NamedFunction
from stepscope.trial.fixes.proposing.pipeline_calls import in_parallel, random_in_pipelines
from stepscope.trial.fixes.proposing.step_function import with_decorator
from stepscope.trial.fixes.proposing.traceable import draws_in_graph, why_not
from stepscope.trial.fixes.proposing.traced import Traced, patch_for, traced_again

FILE = "train.py"


class OneFile:
    """Sources of a script that was never recorded."""

    def __init__(self, source: str) -> None:
        lines = textwrap.dedent(source).strip().splitlines()
        self.files = [FILE]
        self.only = Text(lines, ast.parse("\n".join(lines)))

    def text(self, _file: str) -> Text:
        return self.only

    def definitions(self, name: str) -> list[Function]:
        return [each for each in self.only.functions() if each.name == name]


def case_of(source: str) -> Any:
    """Every line ran twice, and the steps are the last loop of the file."""
    sources = OneFile(source)
    loops = [each.lineno for each in sources.only.loops() if each.col_offset == 0]
    rows = [SimpleNamespace(line=i, hits=2) for i in range(1, len(sources.only.lines) + 1)]
    code = SimpleNamespace(
        sources=sources,
        functions=[SimpleNamespace(file=FILE, lines=rows)],
        step_header=Location(file=FILE, line=loops[-1], function="<module>") if loops else None,
    )
    return SimpleNamespace(code=code)


def function_in(case: Any, name: str = "step") -> NamedFunction:
    (node,) = case.code.sources.definitions(name)
    recorded: Any = SimpleNamespace(file=FILE, function=name, first_line=node.lineno)
    return NamedFunction(recorded, node, case.code.sources.only)


def reason(body: str, around: str = "") -> str | None:
    source = "import numpy as np\nimport tensorflow as tf\nimport jax\nhistory = []\nrate = 0.1\n"
    source += f"{textwrap.dedent(around)}\ndef step(parameters, x):\n"
    source += textwrap.indent(textwrap.dedent(body).strip(), "    ")
    case = case_of(source + "\nfor x in data:\n    parameters = step(parameters, x)\n")
    found = why_not(case, function_in(case))
    return found.partition(" ")[2] if found else None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return np.mean(x)", "calls np.mean"),
        ("return x + np.random.rand()", "calls np.random.rand"),
        ("return x + rng.normal()", "calls rng.normal"),
        ("return x.numpy()", "asks for a value: x.numpy()"),
        ("return float(x)", "asks for a value: float(x)"),
        ("print(x)", "calls print"),
        ("return x + next(batches)", "calls next"),
        ("history.append(x)", "calls history.append"),
        ("global rate\nrate = 0.1", "sets rate outside of the function"),
        ("parameters.seen = x", "sets parameters.seen"),
        ("parameters['w'] -= x", "writes into parameters"),
        ("for part in parameters:\n    part['w'] -= x", "writes into part"),
        ("import time\nreturn x, time.time()", "calls time.time"),
    ],
)
def test_what_would_only_happen_once_stands_in_the_way(body: str, words: str) -> None:
    assert reason(body) == words


@pytest.mark.parametrize(
    "body",
    [
        "return x * rate",
        "losses = []\nfor part in x:\n    losses.append(part)\nreturn losses",
        "found = dict(parameters)\nfound['w'] = x\nreturn found",
        "updates, state = optimizer.update(x, parameters)\nreturn state",
        "return x / int(x.shape[0])",
        "metric.update_state(x)\nreturn x.at[0].set(1)",
        "return x * np.float32",
        "noise = jax.random.normal(parameters['key'], x.shape)\nreturn x + noise",
    ],
)
def test_computing_with_tensors_and_with_containers_of_its_own_does_not(body: str) -> None:
    assert reason(body) is None


def test_functions_that_it_calls_and_the_models_own_count_too() -> None:
    helper = "def loss_of(x):\n    print(x)\n    return x\n"
    assert reason("return loss_of(x)", helper) == "calls print"
    assert reason("return helper(loss_of)(x)", helper) == "calls print"
    model = "class Model:\n    def call(self, x):\n        self.seen = x\n        return x\n"
    assert reason("return model(x)", model) == "sets self.seen"
    assert reason("return x", helper) is None


def test_what_the_loop_sets_anew_would_stay_as_it_was_at_first() -> None:
    source = """
        rate = 0.1
        weights = {}
        for name in "ab":
            weights[name] = 1

        def decays():
            settings.rate = 0.9 * settings.rate

        def step(x):
            return weights, settings.other

        def old(x):
            return x * rate

        def older(x):
            return x * settings.rate

        for x in data:
            step(x)
            old(x)
            rate = 0.9 * rate
    """
    case = case_of(source)
    assert why_not(case, function_in(case)) is None
    old, older = (why_not(case, function_in(case, name)) for name in ("old", "older"))
    assert old == "train.py:13 reads rate, which train.py:21 sets again"
    assert older == "train.py:16 reads settings.rate, which train.py:7 sets again"


def test_tensorflows_own_random_numbers_are_others_in_a_graph() -> None:
    for call, draws in (("tf.random.normal(())", True), ("tf.sin(x)", False)):
        case = case_of(f"import tensorflow as tf\ndef step(x):\n    return x + {call}\n")
        assert draws_in_graph(case, function_in(case)) is draws
        assert why_not(case, function_in(case)) is None


def test_the_patch_uses_the_files_own_names() -> None:
    case = case_of("import jax as j\ndef step(x):\n    return x\n")
    patch = with_decorator(function_in(case), "jax", "jax", "{}.jit").patch
    assert patch is not None
    assert "+@j.jit\n def step(x):" in patch
    assert modules_of(case.code.sources.only) == {"j": "jax"}


PIPELINE = """
    import jax
    import tensorflow as tf

    def turned(x):
        return tf.image.random_flip_left_right(x)

    def made(files):
        data = tf.data.Dataset.from_tensor_slices(files).map(read)
        return data.map(turned, num_parallel_calls=2).batch(32)

    jax.tree.map(print, {})
"""


def test_maps_become_parallel_and_the_batches_are_prefetched() -> None:
    sources: Any = OneFile(PIPELINE)
    added = [line for line in in_parallel(sources).splitlines() if line.startswith("+ ")]
    auto = "tf.data.AUTOTUNE"
    assert added == [
        "+    data = tf.data.Dataset.from_tensor_slices(files)"
        f".map(read, num_parallel_calls={auto})",
        f"+    return data.map(turned, num_parallel_calls=2).batch(32).prefetch({auto})",
    ]
    assert random_in_pipelines(sources) == "train.py:5"
    assert random_in_pipelines(OneFile(PIPELINE.replace("random_", ""))) is None  # type: ignore[arg-type]  # all that is asked for


# --- functions that were traced again -------------------------------------------------------------

TRACED = """
    import tensorflow as tf

    class Trainer:
        @tf.function
        def step(self, x, rate):
            return x * rate

    @tf.function
    def other(x):
        return x

    for size, rate in sizes:
        trainer.step(x[:size], rate)
        other(x[:size])
"""


def traced_in(*spans: str) -> list[Traced]:
    case = case_of(TRACED)
    names = {i: SimpleNamespace(name=f"tf.function {text}") for i, text in enumerate(spans)}
    of = SimpleNamespace(of=lambda _: SimpleNamespace(name=np.array(list(names))))
    case.process = SimpleNamespace(spans=of, names=SimpleNamespace(spans=names))
    return traced_again(case)


def test_a_number_that_changes_is_passed_as_a_tensor() -> None:
    why = "again because the Python value rate is 0.09, was 0.1"
    (step,) = traced_in("step (train.py:4)", f"step (train.py:4); {why}", "other (train.py:8)")
    assert step.place == {"file": "train.py", "function": "Trainer.step", "first_line": 4}
    assert step.can_be_once
    assert "+    trainer.step(x[:size], tf.constant(rate))" in patch_for(step)


def test_a_size_that_changes_is_left_open() -> None:
    why = "again because x has the shape (31, 4), had (32, 4)"
    (other,) = traced_in(f"other (train.py:8); {why}")
    assert other.can_be_once
    assert "-@tf.function\n+@tf.function(reduce_retracing=True)\n def other(x):" in patch_for(other)


def test_a_function_that_is_made_anew_cannot_be_helped_from_outside() -> None:
    (other,) = traced_in("other (train.py:8); again because tf.function was applied to it again")
    assert not other.can_be_once


# --- Keras ----------------------------------------------------------------------------------------

EAGERLY = """
    import keras

    class Model(keras.Model):
        def train_step(self, data):
            loss = self.compute_loss(*data)
            return {"loss": loss}

    model = Model()
    model.compile("sgd", run_eagerly=True)
"""


def proposed_for(source: str) -> Proposal | Refusal | None:
    case = case_of(source)
    case.code.functions = [
        SimpleNamespace(file=FILE, lines=[], first_line=each.lineno, function=each.name)
        for each in case.code.sources.only.functions()
    ]
    finding = SimpleNamespace(location=None, trial="tf-function")
    subject: Any = SimpleNamespace(case=case, finding=finding)
    return fixes.named("tf-function").propose(subject)


def test_keras_leaves_run_eagerly_unless_the_script_needs_it() -> None:
    proposal = proposed_for(EAGERLY)
    assert isinstance(proposal, Proposal)
    assert proposal.settings == {"run_eagerly": False}
    assert '+model.compile("sgd", run_eagerly=False)' in (proposal.patch or "")
    printing = proposed_for(EAGERLY.replace("return", "print(loss)\n            return"))
    assert printing == Refusal("The script needs run_eagerly=True: train.py:6 calls print.")


@pytest.mark.parametrize(("trains", "other"), [("tf-function", "jit"), ("jit", "tf-function")])
def test_a_step_is_compiled_by_what_trains_whatever_else_is_loaded(trains: str, other: str) -> None:
    """Keras loads JAX wherever it is installed, and tf.data may feed JAX."""
    finding = SimpleNamespace(id="eager-overhead", trial=trains)
    subject: Any = SimpleNamespace(finding=finding, frameworks={"tensorflow", "keras", "jax"})
    assert fixes.named(other).propose(subject) is None
