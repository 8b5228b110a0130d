"""exec, eval and compile in all their forms."""

import ast
import builtins
import code
import codeop
import sys
import types

space = {}
exec("a = 1\nb = [a for _ in range(3)]\ndef f(): return a", space)
print(sorted(space)[1:], space["f"](), eval("a + 1", space), eval(compile("a", "x", "eval"), space))
exec(compile("print(__name__, 'in this file')", __file__, "exec"))
exec(compile("def g():\n    return 5\nprint(g())", __file__, "exec"), {})
print(compile("lambda: 1", __file__, "eval").co_consts[0].co_filename == __file__)
try:
    exec("def broken(:")
except SyntaxError as error:
    print(error, error.filename, error.lineno, error.offset)


def local_exec():
    x = 1
    exec("y = x + 1")
    scope = dict(locals())
    exec("z = x + 1", globals(), scope)
    return scope["z"], sorted(locals())


def closure():
    value = 10

    def inner():
        return value

    exec(inner.__code__, closure=inner.__closure__) if sys.version_info >= (3, 11) else None
    return inner


print(local_exec(), closure()())
for wrong in ((), (1,), ("1", 2), ("x", {}, 3), ("x", {}, {}, 4)):
    try:
        exec(*wrong)
    except Exception as error:
        print(type(error).__name__, error)
try:
    exec(source="x = 1")
except TypeError as error:
    print(error)
tree = ast.parse("def counted():\n    return __name__\n")
ast.increment_lineno(tree, 100)
made = {"__name__": "made"}
exec(compile(tree, __file__, "exec"), made)
print(made["counted"](), made["counted"].__code__.co_firstlineno)


class Spy(dict):
    def __getitem__(self, key):
        print("looked up", key)
        return super().__getitem__(key)


exec("print(q)", {}, Spy(q=3))
exec(compile("q", "name", "exec"), {"__builtins__": {}}, Spy(q=3))
module = types.ModuleType("fresh")
exec("import sys; here = sys._getframe().f_code.co_filename", module.__dict__)
print(module.here, builtins.exec is exec, code.compile_command("x = 1") is not None)
print(codeop.compile_command("if 1:") is None, type(eval("(i for i in range(3))")).__name__)
answer = eval("__import__('sys')._getframe(0).f_back.f_code.co_name")
print(answer)
exec(compile("raise LookupError('from compiled text')", __file__, "exec"))
