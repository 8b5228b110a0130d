"""Code made with exec, eval and compile."""

source = """
def made(n):
    total = 0
    for i in range(n):
        total += i
    return total
result = made(5)
"""

space = {}
exec(source, space)
exec(compile(source, __file__ + " <compiled>", "exec"), space)
value = eval("sum([1, 2, 3])")
for text in ["x = 1", "x += 2", "y = [x for _ in range(3)]"]:
    exec(text, space)
print(space["result"], space["made"](3), value, space["y"])
