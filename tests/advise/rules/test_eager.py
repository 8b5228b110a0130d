"""How much of the operators' time is computing, and how much is launching them."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stepscope.advise.evidence.case import CannotJudge
from stepscope.advise.evidence.computing import Computing, computing
from stepscope.advise.gain.compiled import Launching, compiled
from stepscope.advise.gain.one_call import in_one_call_ns
from stepscope.advise.rules.eager_overhead import _in_a_graph, _is_theirs, _uses
from stepscope.analyze.code.sampled_steps import Frame, Look
from stepscope.analyze.operators.step_operators import StepOps
from stepscope.importers.trace import Category, Shapes
from stepscope.store.records import FunctionName

US = 1_000.0
_EVENT = np.dtype(
    [("name", np.int32), ("shapes", np.int32), ("category", np.int8), ("is_input", np.bool_)]
)


def window(*operators: tuple[str, str, float]) -> StepOps:
    """One step of operators: name, shapes, own time in µs."""
    names = sorted({name for name, _, _ in operators})
    dims = sorted({dims for _, dims, _ in operators})
    rows = [(names.index(each[0]), dims.index(each[1]), Category.OP, False) for each in operators]
    trace = SimpleNamespace(names=names, shapes=[Shapes(dims=each) for each in dims])
    own = np.array([us * US for *_, us in operators])
    tree = SimpleNamespace(trace=trace, events=np.array(rows, _EVENT), self_ns=own)
    part: Any = SimpleNamespace(tree=tree)
    nobody: Any = None
    return StepOps(nobody, nobody, part, 1, 1.0)


def computed(*operators: tuple[str, str, float]) -> Computing:
    return computing(window(*operators), np.ones(len(operators), np.bool_))


def computed_us(*operators: tuple[str, str, float]) -> float:
    return computed(*operators).ns / US


def test_an_operator_that_lost_its_core_computed_no_more_than_its_kind() -> None:
    usual = [("aten::mul", "[[10, 10]]", 2.0)] * 20
    assert computed_us(*usual, ("aten::mul", "[[10, 10]]", 4_000.0)) == pytest.approx(21 * 0.015)


def test_large_operators_compute_nearly_all_the_time() -> None:
    large = [("aten::mul", "[[4096, 4096]]", 4_000.0)] * 5
    small = [("aten::mul", "[[10, 10]]", 2.0)] * 5
    assert computed_us(*large, *small) == pytest.approx(5 * 4_000, rel=0.01)


def test_recording_does_not_make_large_operators_slower() -> None:
    """The steps of the window took twice as long: because of the many small ones."""
    large = [("aten::mul", "[[4096, 4096]]", 4_000.0)] * 5
    found = dataclasses.replace(window(*large), slowdown=2.0)
    assert computing(found, np.ones(5, np.bool_)).ns / US == pytest.approx(20_000, rel=0.01)


def test_an_operator_computes_what_it_takes_beyond_its_launch() -> None:
    """A launch takes 2 µs here, and 8 at most: operators of 40 µs compute for 32 and more."""
    small = [("aten::mul", "[[8, 8]]", 2.0)] * 20
    found = computed(*small, *[("aten::sort", "[[40, 40]]", 40.0)] * 10)
    arithmetic = 20 * 64 * 0.00015
    assert found.ns / US == pytest.approx(10 * (40.0 - 4 * (2.0 - 64 * 0.00015)) + arithmetic)
    assert found.least_ns / US == pytest.approx(10 * 1600 * 0.005 + arithmetic)


def test_a_small_product_is_launched_for_most_of_its_time() -> None:
    """It is harder to launch than an addition: 5 of 5.5 µs, and its arithmetic takes the rest."""
    small = [("aten::add", "[[16, 48]]", 2.0)] * 20
    found = computed(*small, *[("aten::addmm", "[[48], [8, 30], [30, 50]]", 5.5)] * 10)
    assert found.ns / US == pytest.approx(10 * 24_000 * 0.00001 + 20 * 768 * 0.00015)


def test_the_smaller_shape_of_a_name_shows_what_launching_it_costs() -> None:
    """6 µs more for four times the elements are computing, however fast others compute."""
    small = [("aten::add", "[[8, 8]]", 2.0)] * 20
    some = [("aten::special", "[[10, 100]]", 4.15)] * 10
    found = computed(*small, *some, *[("aten::special", "[[40, 100]]", 10.6)] * 10)
    assert found.ns / US == pytest.approx(10 * 0.15 + 10 * 6.6 + 20 * 64 * 0.00015)


def test_views_show_what_a_launch_costs_only_where_nothing_else_does() -> None:
    views = [("aten::t", "[[2304]]", 0.5)] * 20
    large = [("aten::mul", "[[500, 500]]", 100.0)] * 5
    small = [("aten::mul", "[[8, 8]]", 2.0)] * 5
    assert computed_us(*views, *large) == pytest.approx(5 * 98.0)
    assert computed_us(*views, *large, *small) == pytest.approx(5 * (98.0 + 2 * 64 * 0.00015))


def test_without_small_operators_a_launch_is_the_shortest_of_all() -> None:
    """They were once taken to launch for 15 µs each, which was all that they took."""
    found = computed(
        *[("aten::mul", "[[64, 64]]", 34.0)] * 30, ("aten::add", "[[64, 64]]", 2.0)
    )  # fmt: skip
    assert found.ns / US == pytest.approx(30 * 26.0 + 4096 * 0.00015)


@pytest.mark.parametrize(("products", "unfused"), [(0, 0.0), (5, 0.2), (40, 1.0)])
def test_what_lies_between_two_products_becomes_one_operator(products: int, unfused: float) -> None:
    chain = [("aten::mul", "[[10, 10]]", 2.0)] * (50 - products)
    assert computed(*chain, *[("aten::mm", "[[10, 10]]", 3.0)] * products).unfused == unfused


def test_rows_that_go_through_a_matrix_in_one_call_leave_their_arithmetic() -> None:
    """10 rows of 192 through weights of 192 x 384, one by one: 10 of 12 µs each are reading the
    weights. Their gradient is added up once and not ten times."""
    product = ("aten::mm", "[[1, 192], [192, 384]]", 12.0)
    adding = ("aten::add_", "[[192, 384], [192, 384], []]", 20.0)
    found = window(*[product] * 10, *[adding] * 10)
    arithmetic = 2 * 192 * 384 * 0.00001, 192 * 384 * 0.00015
    left = in_one_call_ns(found, np.ones(20, np.bool_))
    assert left / US == pytest.approx(10 * arithmetic[0] + arithmetic[1])


def test_what_takes_longer_than_any_launch_takes_as_long_in_one_call() -> None:
    found = window(*[("aten::sort", "[[40, 40]]", 100.0)] * 10)
    left = in_one_call_ns(found, np.ones(10, np.bool_))
    assert left / US == pytest.approx(10 * (100.0 - 15.0))


def launching(**changed: float) -> Launching:
    return Launching(**({"ns": 6e6, "inside": 1.0, "unfused": 0.5, "calls": 1.0} | changed))


def test_a_compiler_leaves_its_own_calls_and_those_of_libraries() -> None:
    """Of 6 ms of launching it saves 4.5, less one call of 0.1 ms: 5.6 of 10 ms are left. Larger
    operators leave 4: the middle of the exponents is expected."""
    found = compiled(launching(unfused=0.25), step_ns=10e6, with_core=1.0, most_ns=7e6)
    assert 10e6 - found.expected == pytest.approx((5.6e6 * 4e6) ** 0.5)
    assert (found.least, found.most) == pytest.approx((0.75 * 4.4e6, 7e6))


def test_a_weight_that_is_used_again_and_again_may_be_used_once() -> None:
    """Of 2 ms that a compiler leaves to launch, an LSTM of torch's own leaves a twentieth. 3.0 was
    once promised for a cell written gate by gate, which gains 8."""
    of_cells = launching(unfused=0.25, uses=20)
    found = compiled(of_cells, step_ns=10e6, with_core=1.0, most_ns=7e6)
    assert 10e6 - found.expected == pytest.approx((4.08e6 * 4e6) ** 0.5)
    assert found.least == pytest.approx(0.75 * 4.4e6)  # it may be a cell that no library has


@pytest.mark.parametrize(("moments", "uses"), [(50, 25.0), (1, 1.0)])
def test_a_gradient_is_added_once_to_a_weight_that_each_moment_uses(
    moments: int, uses: float
) -> None:
    """A weight and a bias."""
    products = [("aten::addmm", "[[4], [2, 4], [4, 4]]", 3.0)] * moments
    found = window(*products, *[("torch::autograd::AccumulateGrad", "", 1.0)] * 2)
    assert _uses(found, np.ones(moments + 2, np.bool_)) == uses


def test_what_torch_calls_beside_an_operator_does_not_say_what_launching_costs() -> None:
    """`resolve_conj` returns its argument, in 0.03 µs: a product seemed to compute for 2.6 of the
    3.7 µs that it took."""
    small = [("aten::add", "[[16, 48]]", 2.0)] * 20
    beside = [("aten::resolve_conj", "[[16, 48]]", 0.03)] * 60
    found = computed_us(*small, *beside, *[("aten::addmm", "[[48], [8, 30], [30, 50]]", 5.5)] * 10)
    assert found == pytest.approx(10 * 0.24 + 20 * 768 * 0.00015)


def test_a_model_that_is_called_for_every_state_gains_nothing_from_a_compiler() -> None:
    found = compiled(
        launching(calls=50, unfused=0.2), step_ns=10e6, with_core=1.0, most_ns=7e6
    )  # fmt: skip
    assert found.expected == found.least == 0.0


def test_operators_outside_the_models_calls_stay_as_they_are() -> None:
    found = compiled(launching(calls=5, inside=0.25), step_ns=20e6, with_core=0.5, most_ns=7e6)
    assert found.expected == pytest.approx((6e6 * 0.25 * 0.5 - 0.5e6) / 0.5)


def test_views_and_frames_of_autograd_compute_nothing() -> None:
    views = [("aten::as_strided", "[[2304]]", 0.5), ("aten::t", "[[2304]]", 0.5)]
    frames = [("autograd::engine::evaluate_function: MulBackward0", "", 30.0)]
    assert computed_us(*views, *frames) == 0.0


# --- TensorFlow and JAX ---------------------------------------------------------------------------


def look(*files: str, ns: float = 1.0) -> Look:
    """A stack, the user's own frame first."""
    frames = [Frame(FunctionName(id=1, file="/me/train.py", line=1, name="train"), 5, True)]
    frames += [Frame(FunctionName(id=2, file=f, line=1, name="f"), 7, False) for f in files]
    return Look("forward", tuple(frames), ns)


class FakeStacks:
    def share(self, looks: Any) -> float:
        return float(sum(each.ns for each in looks)) / 100.0


class FakeCase:
    step_ns = 100e6
    stacks = FakeStacks()
    machine = SimpleNamespace(with_core=1.0)

    def __init__(self, operators: StepOps | None = None) -> None:
        self.recorded = operators

    @property
    def operators(self) -> StepOps:
        if self.recorded is None:
            raise CannotJudge("none")
        return self.recorded


@pytest.mark.parametrize(("python", "in_c", "computes"), [(50, 50, 0), (30, 60, 30), (5, 95, 90)])
def test_calls_into_c_compute_what_they_take_beyond_the_python_around_them(
    python: float, in_c: float, computes: float
) -> None:
    """Of 100 ms. The rest launches operators for 40 µs each, and a node of a graph takes 1 µs."""
    looks = [look("/x/tensorflow/python/ops/math_ops.py", ns=python)]
    looks += [look("/x/tensorflow/python/ops/gen_math_ops.py", ns=in_c)]
    case: Any = FakeCase()
    nodes = (python + in_c - computes) / 0.04
    left_us = 1e3 * computes + 100 + nodes
    assert _in_a_graph(case, looks) / US == pytest.approx(left_us)


def test_an_operator_that_mostly_lost_its_core_computes_as_long_as_when_it_did_not() -> None:
    """It shares its work with threads that had no core, in two of three steps: 17 ms were taken for
    its computing, a quarter of the step, and the gain was said to be 6 where it was 27."""
    loss = [("SparseSoftmaxCrossEntropyWithLogits", "[[32, 10]]", us) for us in (35.0, 17e3, 16e3)]
    small = [("AddV2", "[[64]]", 5.0)] * 997
    case: Any = FakeCase(window(*loss, *small))
    assert _in_a_graph(case, []) / US == pytest.approx(3 * 30 + 100 + 1_000)


def test_what_a_framework_calls_in_turn_is_its_own_doing() -> None:
    assert _is_theirs(look("/x/tensorflow/python/util/dispatch.py", "/lib/python3.11/typing.py"))
    assert not _is_theirs(look("/lib/python3.11/typing.py"))
    assert not _is_theirs(look())
