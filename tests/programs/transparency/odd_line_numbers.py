"""Code with lines that no file has: 0, negative, beyond 2^31, in reverse order; renamed code."""

import ast
import sys
import types


def renumbered(source, change):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno, node.end_lineno = change(node.lineno), change(node.end_lineno)
            if node.lineno > node.end_lineno:
                node.lineno, node.end_lineno = node.end_lineno, node.lineno
    return tree


SOURCE = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n"
for name, change in {
    "zero": lambda line: 0,
    "same": lambda line: 7,
    "huge": lambda line: 2**31 - 20 + line,
    "spread": lambda line: line * 100_000_000,
    "large": lambda line: line + 150_000,
    "negative": lambda line: -line,
    "minus": lambda line: 2 - line,
    "reverse": lambda line: 100 - line,
}.items():
    space = {}
    try:
        code = compile(renumbered(SOURCE, change), __file__, "exec")
        exec(code, space)
        print(name, space["f"](5), [space["f"](i) for i in range(3)], code.co_firstlineno)
        lines = {line for _, _, line in space["f"].__code__.co_lines()} - {None}
        print(sorted(lines))
    except (ValueError, OverflowError) as error:
        print(name, type(error).__name__, error)


def real(n):
    for i in range(n):
        n += i
    return n


def generator(n):
    for i in range(n):
        yield i


moved = types.FunctionType(real.__code__.replace(co_firstlineno=500), globals())
renamed = types.FunctionType(real.__code__.replace(co_filename=sys.__file__
                             if hasattr(sys, "__file__") else "/no/such/file.py"), globals())
other = types.FunctionType(generator.__code__.replace(co_name="other", co_qualname="x.other"), {})
print(moved(4), renamed(4), list(types.FunctionType(other.__code__, globals())(3)))
print(real(4), list(generator(2)))
real.__code__ = generator.__code__
print(list(real(3)))
empty = compile("", __file__, "exec")
exec(empty)
print(empty.co_firstlineno, list(empty.co_lines())[0][2])
expression = compile("1", __file__, "eval").replace(co_linetable=b"")
print(eval(expression))
