"""A console of its own on stdin."""

import code

code.interact(banner="hello", local={"x": 5}, exitmsg="bye")
