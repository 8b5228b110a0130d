"""TF_CONFIG: a cluster, and which of its tasks this process is."""

import json

import pytest

from stepscope.launch.launchers import launch_of, rank_of

CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}


def environment(kind: str, index: object, cluster: object = CLUSTER) -> dict[str, str]:
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})}


def test_chiefs_come_before_workers() -> None:
    tasks = (("chief", 0), ("worker", 0), ("worker", 1))
    assert [rank_of(environment(*task)) for task in tasks] == [0, 1, 2]
    launch = launch_of(environment("worker", 1))
    assert launch is not None
    assert (launch.variable, launch.ranks, launch.launch_id) == ("TF_CONFIG", 3, None)


@pytest.mark.parametrize(
    "config",
    [
        environment("ps", 0),
        environment("evaluator", 0),
        environment("worker", 7),
        environment("worker", "first"),
        environment("worker", 0, {"worker": ["a:1"]}),
        environment("worker", 0, []),
        {"TF_CONFIG": "{"},
        {"TF_CONFIG": "[]"},
        {"TF_CONFIG": ""},
    ],
)
def test_what_is_no_rank(config: dict[str, str]) -> None:
    assert launch_of(config) is None


def test_other_launchers_count_first() -> None:
    launch = launch_of({**environment("worker", 0), "RANK": "3", "WORLD_SIZE": "4"})
    assert launch is not None
    assert (launch.variable, launch.rank) == ("RANK", 3)
