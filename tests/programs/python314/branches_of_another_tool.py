"""A tool of the program's own counts both ways of its branches, and turns some of them off."""

import collections
import sys

TOOL = sys.monitoring.COVERAGE_ID
EVENTS = sys.monitoring.events
ways = collections.Counter()


def choose(n):
    taken = 0
    for i in range(n):
        if i % 3 == 0:
            taken += 1
        while taken > 100:
            taken -= 1
    return taken


def left(code, offset, destination):
    ways[(code.co_name, "left", offset, destination)] += 1


def right(code, offset, destination):
    ways[(code.co_name, "right", offset, destination)] += 1
    return sys.monitoring.DISABLE if once else None


sys.monitoring.use_tool_id(TOOL, "branches")
sys.monitoring.register_callback(TOOL, EVENTS.BRANCH_LEFT, left)
sys.monitoring.register_callback(TOOL, EVENTS.BRANCH_RIGHT, right)
sys.monitoring.set_local_events(TOOL, choose.__code__, EVENTS.BRANCH_LEFT | EVENTS.BRANCH_RIGHT)
for once in (False, True, False):
    choose(10)
    print(once, sorted(ways.items()))
    ways.clear()
sys.monitoring.restart_events()
choose(10)
print(sorted(ways.items()), sys.monitoring.get_local_events(TOOL, choose.__code__))
print(list(choose.__code__.co_branches()))
sys.monitoring.free_tool_id(TOOL)
