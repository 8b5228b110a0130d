"""The tree of errors.

StepscopeError              everything we raise on purpose; carries the exit status
├── InputError        (2)   the user can fix it: a wrong option, a missing script
├── DataError         (3)   a run folder or trace that cannot be read
│   └── NotATrace     (2)   no run, and nothing that can be read as a trace: another was meant
├── EnvironmentTrouble (4)  this machine lacks something: a package, a permission, space
└── InternalError     (70)  a bug in stepscope
"""


class StepscopeError(Exception):
    """The message says what happened, to what, and what to do now."""

    exit_status = 1


class InputError(StepscopeError):
    exit_status = 2


class DataError(StepscopeError):
    exit_status = 3


class NotATrace(DataError):
    exit_status = 2


class EnvironmentTrouble(StepscopeError):
    exit_status = 4


class InternalError(StepscopeError):
    exit_status = 70
