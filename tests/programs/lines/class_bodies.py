"""Code that runs in class bodies."""


def base(n):
    return type(f"Base{n}", (), {"n": n})


class Counted(base(1)):
    """With a docstring."""

    names = []
    for i in range(4):
        names.append(i)
        if i == 2:
            break
    table = {
        k: v
        for k, v in zip("ab", names)
    }

    class Inner:
        depth = 2

        def method(self):
            return __class__

    def method(self, default=[
        1,
        2,
    ]):
        return super().__repr__ and default

    annotated: int = 3


class Meta(type):
    def __new__(mcls, name, bases, space, **options):
        made = super().__new__(mcls, name, bases, space)
        made.options = options
        return made


class WithMeta(metaclass=Meta, flavour="x"): pass


print(Counted().method(), Counted.table, Counted.Inner().method(), WithMeta.options)
