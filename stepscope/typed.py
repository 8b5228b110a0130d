"""Names of `typing`, and records, for what every recorded process imports: `typing` itself takes
5 ms there, with all that it imports, and each class of a `NamedTuple` a quarter of one."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any as Any
    from typing import Final as Final
    from typing import TypeVar as TypeVar
    from typing import cast as cast
    from typing import dataclass_transform as dataclass_transform
else:

    class Any:
        def __class_getitem__(cls, of: object) -> type:
            return cls

    Final = Any

    def TypeVar(name: str, bound: object = None) -> object:  # as in typing
        return Any

    def cast(kind: object, value: object) -> object:
        return value

    def dataclass_transform(**_: bool) -> "Callable[[type], type]":
        return lambda of: of


@dataclass_transform(frozen_default=True)
class Record:
    """Fields are what a class annotates, in that order; a value that it gives there is the default.
    For classes of which there are few objects: making one takes a microsecond or two."""

    def __init__(self, *values: object, **named: object) -> None:
        fields = type(self).__annotations__
        given = dict(zip(fields, values, strict=False)) | named
        missing = [field for field in fields if field not in given and not hasattr(self, field)]
        if len(given) < len(values) + len(named) or missing or given.keys() - fields.keys():
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(fields)}")
        self.__dict__.update(given)

    def fields(self) -> "dict[str, Any]":
        return {field: getattr(self, field) for field in type(self).__annotations__}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.fields() == other.fields()

    def __hash__(self) -> int:
        return hash(tuple(self.fields().values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{field}={value!r}" for field, value in self.fields().items())
        return f"{type(self).__name__}({values})"
