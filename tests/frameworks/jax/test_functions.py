"""What is found out about JAX's functions from their arguments and results."""

from typing import Any

import pytest

import needs

jax = needs.module("jax")

from stepscope.record.frameworks.jax.compile_causes import (  # noqa: E402  # only with JAX
    Array,
    Signature,
    change,
    signature_of,
)
from stepscope.record.frameworks.jax.updates import Updates  # noqa: E402

FLOATS = Array((4, 2), "float32", False)


def signature(statics: dict[str, str] | None = None, **arrays: Array) -> Signature:
    return Signature(arrays, statics or {})


# --- causes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "text"),
    [
        (signature(x=Array((5, 2), "float32", False)), "x has shape (5, 2), had (4, 2)"),
        (signature(x=Array((4, 2), "int32", False)), "x is of type int32, was float32"),
        (
            signature(x=Array((4, 2), "float32", True)),
            "x is now weakly typed, as Python's numbers are",
        ),
        (signature(x=FLOATS, y=FLOATS), "its arguments have another structure (y)"),
        (
            signature({"n": "2"}, x=FLOATS),
            "its arguments have another structure (n)",
        ),
    ],
)
def test_what_differs_is_reported(now: Signature, text: str) -> None:
    found = change([signature(x=FLOATS)], now)
    assert found is not None
    assert found.text == text


def test_it_is_compared_with_the_nearest_and_latest() -> None:
    far = signature(x=Array((9, 9), "int32", False), y=FLOATS)
    near = signature({"n": "1"}, x=FLOATS, y=FLOATS)
    found = change([near, far], signature({"n": "2"}, x=FLOATS, y=FLOATS))
    assert found is not None
    assert found.text == "the static argument n is 2, was 1"


def test_no_difference_is_no_cause() -> None:
    assert change([], signature(x=FLOATS)) is None
    assert change([signature(x=FLOATS)], signature(x=FLOATS)) is None


def test_arguments_have_the_names_that_the_script_gives_them() -> None:
    def update(params: Any, batch: Any, rate: float, *more: Any, mode: str) -> None:
        return None

    function = jax.jit(update, static_argnums=(2,), static_argnames=("mode",))
    args = ({"w": jax.numpy.ones(3)}, (1, 2.0), 0.5, jax.numpy.zeros((2, 2), "int8"))
    found = signature_of(function, args, {"mode": "train"}, jax.tree_util)
    assert found.statics == {"rate": "0.5", "mode": "'train'"}
    assert found.arrays == {
        "params['w']": Array((3,), "float32", False),
        "batch[0]": Array((), "int", True),
        "batch[1]": Array((), "float", True),
        "args[3]": Array((2, 2), "int8", False),
    }


# --- updates --------------------------------------------------------------------------------------


def known_after(calls: int, function: Any, *args: Any) -> Updates:
    """`function(updates, *args)` makes a call, and returns the arguments of the next."""
    updates = Updates(jax.tree_util, jax.Array)
    for _ in range(calls):
        args = function(updates, *args)
    return updates


def call(updates: Updates, args: tuple[Any, ...], result: Any) -> Any:
    updates.called(args, {})
    if updates.is_open:
        updates.ended(args, result)
    return result


def params() -> dict[str, Any]:
    return {"w": jax.numpy.ones((3, 2)), "b": jax.numpy.zeros(2)}


def test_a_function_that_gets_back_what_it_returned_trains() -> None:
    batch = jax.numpy.ones((16, 3)), jax.numpy.ones(16)
    updates = known_after(2, lambda u, p: (call(u, (p, batch), params()),), params())
    assert updates.trains
    assert updates.updated_bytes == 4 * 8
    assert updates.samples((params(), batch)) == 16


def test_evaluation_does_not_train() -> None:
    """Although the sum of its losses comes back."""
    kept = {"w": jax.numpy.ones((30, 20)), "b": jax.numpy.zeros(20)}
    total = jax.numpy.zeros(())
    updates = known_after(9, lambda u, t: (call(u, (kept, t), t + 1),), total)
    assert not updates.trains
    assert not updates.is_open


def test_random_keys_are_no_parameters() -> None:
    def split(updates: Updates, key: Any) -> tuple[Any]:
        following, _ = call(updates, (key,), tuple(jax.random.split(key)))
        return (following,)

    assert not known_after(9, split, jax.random.PRNGKey(0)).trains


def test_gradients_show_who_trains_where_nothing_is_updated() -> None:
    batch = jax.numpy.ones((16, 3))

    def gradients(updates: Updates) -> tuple[()]:
        call(updates, (params(), batch), (jax.numpy.ones(()), params()))
        return ()

    updates = known_after(9, gradients)
    assert updates.trains
    assert updates.updated_bytes == 0
    assert updates.samples((params(), batch)) == 16


def test_no_array_is_kept_alive() -> None:
    import weakref

    updates = Updates(jax.tree_util, jax.Array)
    given, result = params(), params()
    seen = [weakref.ref(leaf) for leaf in jax.tree.leaves((given, result))]
    call(updates, (given,), result)
    del given, result
    assert not any(each() is not None for each in seen)
