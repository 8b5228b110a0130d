"""Sets a profile function of its own midway, for a while."""

import cProfile
import sys

seen = []


def before(n):
    return n + 1


def during(n):
    return n + 2


def after(n):
    return n + 3


def note(frame, event, argument):
    if event == "call":
        seen.append(frame.f_code.co_name)


for i in range(10):
    before(i)
sys.setprofile(note)
for i in range(10):
    during(i)
sys.setprofile(None)
profile = cProfile.Profile()
profile.enable()
for i in range(10):
    after(i)
profile.disable()
counted = {e.code.co_name: e.callcount for e in profile.getstats() if not isinstance(e.code, str)}
print(seen.count("during"), counted.get("after"), sys.getprofile())
