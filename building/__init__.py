"""How the package is built: the report's page with Node, the core with a C compiler.

pip calls `backend`, setup.py the rest. None of it is installed.
"""
