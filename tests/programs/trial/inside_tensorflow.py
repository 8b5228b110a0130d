"""Every fix for TensorFlow and Keras, installed one after the other in one process: importing
TensorFlow takes longer than all of them. Prints what each said, and what came out."""

import atexit
import json
import sys

import keras
import tensorflow as tf

from stepscope.trial import fixes
from trial.fixes.fake_script import FakeScript

sys.modules["keras"] = keras
registered = []
atexit.register = registered.append  # called after each part, not at the end


def with_fixes(wanted, part):
    """What `part` returns, and what the fixes said meanwhile."""
    script = FakeScript()
    for name, settings in wanted.items():
        fixes.named(name).install(script, settings)
    try:
        out = part()
        while registered:
            registered.pop()()
    finally:
        script.patches.undo()
    return {"out": out, "said": sorted(set(script.said))}


# --- pipelines ------------------------------------------------------------------------------------

calls = []


def scaled(x):
    return tf.cast(x, tf.float32) / 10


def noisy(x):
    return scaled(x) + tf.random.uniform((), seed=2)


def counted(x):
    return scaled(tf.numpy_function(lambda value: calls.append(None) or value, [x], tf.int64))


def numbers():
    return tf.data.Dataset.range(40)


PIPELINES = {
    "shuffled": lambda: numbers().map(scaled).shuffle(8, seed=3).batch(4),
    "in order": lambda: numbers().map(scaled).batch(4),
    "noisy": lambda: numbers().map(scaled).map(noisy).batch(4),
    "python": lambda: numbers().map(counted).batch(4),
    "endless": lambda: numbers().repeat().map(scaled).batch(4).take(10),
    "filtered": lambda: numbers().map(scaled).filter(lambda x: x < 2).batch(4),
}


def epochs(kind):
    def part():
        tf.random.set_seed(1)
        calls.clear()
        pipeline = PIPELINES[kind]()
        found = [[round(float(x), 6) for x in batch] for _ in range(3) for batch in pipeline]
        return [found, len(calls)]

    return part


# --- graphs ---------------------------------------------------------------------------------------

weight = tf.Variable(2.0)


def graph(**options):
    @tf.function(**options)
    def train_step(x, rate):
        train_step.traced += 1
        return tf.reduce_sum(x) * rate * weight

    train_step.traced = 0
    return train_step


def in_words():
    @tf.function
    def in_words(x):
        return tf.strings.length(tf.strings.as_string(x))

    return [int(in_words(tf.constant(12.5))) for _ in range(2)]


def changing_sizes_and_numbers(**options):
    def part():
        step = graph(**options)
        found = [float(step(tf.ones(size), 1.0 / size)) for size in range(1, 7)]
        return [found, step.traced]

    return part


def place(function, first_line):
    return {"file": "inside_tensorflow.py", "function": function, "first_line": first_line}


def first_lines():
    """Of the functions in this file, with their decorators."""
    with open(__file__) as file:
        lines = file.read().splitlines()
    return {
        "graph": next(i for i, line in enumerate(lines, 1) if "@tf.function(**options)" in line),
        "words": 1 + next(i for i, line in enumerate(lines, 1) if line == "def in_words():"),
    }


LINES = first_lines()
STEP = {"functions": [place("graph.<locals>.train_step", LINES["graph"])]}
WORDS = {"functions": [place("in_words.<locals>.in_words", LINES["words"])]}


# --- Keras ----------------------------------------------------------------------------------------


def fitted(**options):
    def part():
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
        model.compile("sgd", "mse", **options)
        x = tf.reshape(tf.range(160.0), (40, 4)) / 160
        history = model.fit(x, x[:, :1], batch_size=4, epochs=2, shuffle=False, verbose=0)
        about = model.run_eagerly, bool(model.jit_compile), int(model.steps_per_execution)
        result = model(x[:2])
        return [history.history["loss"], *about, result.dtype.name, model.layers[0].compute_dtype]

    return part


both = {"tf-cache": {}, "tf-data": {"random": False}}
found = {
    **{kind: with_fixes({}, epochs(kind)) for kind in PIPELINES},
    **{f"{kind} with both": with_fixes(both, epochs(kind)) for kind in PIPELINES},
    "noisy in parallel": with_fixes({"tf-data": {"random": True}}, epochs("noisy")),
    "traced": with_fixes({}, changing_sizes_and_numbers()),
    "traced once": with_fixes({"tf-retracing": STEP}, changing_sizes_and_numbers()),
    "xla": with_fixes({"tf-xla": STEP}, changing_sizes_and_numbers()),
    "xla by itself": with_fixes({"tf-xla": STEP}, changing_sizes_and_numbers(jit_compile=False)),
    "xla of words": with_fixes({"tf-xla": WORDS}, in_words),
    "fit": with_fixes({}, fitted()),
    "fit eagerly": with_fixes({"tf-function": {"run_eagerly": False}}, fitted(run_eagerly=True)),
    "fit with xla": with_fixes({"tf-xla": {"keras": True}}, fitted()),
    "fit many": with_fixes({"keras-steps-per-execution": {"steps": 5}}, fitted()),
    "fit in 16 bits": with_fixes({"tf-mixed-precision": {}}, fitted()),
}
print(json.dumps(found))
