"""`python -m stepscope` is `stepscope`."""

import sys

if __name__ == "__main__":
    # With -m the current folder comes first on the path: a user's own `inspect.py` is not ours.
    if not sys.flags.safe_path:
        del sys.path[0]

    from stepscope.cli.main import main

    sys.exit(main())
