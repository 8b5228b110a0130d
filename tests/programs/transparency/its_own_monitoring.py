"""sys.monitoring with every tool id, two of which are the ones that profilers pick."""

import sys

if sys.version_info < (3, 12):
    print("skipped: this Python has no sys.monitoring")
    raise SystemExit

monitoring, events = sys.monitoring, sys.monitoring.events
seen = []


def loop(n):
    total = 0
    for i in range(n):
        total += i
    return total


def note(event):
    def callback(code, *rest):
        if code.co_filename == __file__ or "stepscope" in code.co_filename:
            seen.append((event, code.co_name, str(rest[:1])))
            if event == "PY_RETURN":
                return monitoring.DISABLE

    return callback


def listen(tool):
    monitoring.use_tool_id(tool, f"tool {tool}")
    print(monitoring.get_tool(tool))
    for event in ("LINE", "PY_START", "PY_RETURN"):
        monitoring.register_callback(tool, getattr(events, event), note(event))
    monitoring.set_events(tool, events.LINE | events.PY_START)
    monitoring.set_local_events(tool, loop.__code__, events.PY_RETURN)


print([monitoring.get_tool(tool) for tool in range(6)])
for tool in (0, 1, 2, 5, 3, 4):
    listen(tool)
    loop(3)
    monitoring.restart_events()
    loop(3)
    try:
        monitoring.use_tool_id(tool, "again")
    except ValueError as error:
        print(error)
print([monitoring.get_tool(tool) for tool in range(6)])
for tool in range(6):
    monitoring.set_events(tool, 0)
    monitoring.set_local_events(tool, loop.__code__, 0)
    for event in ("LINE", "PY_START", "PY_RETURN"):
        monitoring.register_callback(tool, getattr(events, event), None)
    monitoring.free_tool_id(tool)
loop(3)
print([monitoring.get_tool(tool) for tool in range(6)])
for event in seen:
    print(event)
for wrong in (-1, 8, 3.5, None):
    try:
        monitoring.use_tool_id(wrong, "wrong")
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)
