"""More constants and code than one byte of an argument can address, with long jumps."""

lines = ["def long(n):", "    total = 0", "    for i in range(n):"]
for i in range(400):
    lines.append(f"        if i == {i + 1000}:")
    lines.append(f"            total += {i + 5000}.5")
lines.append("        while True:")
lines.append("            try:")
lines += [f"                total += {i + 90000}" for i in range(300)]
lines.append("                break")
lines.append("            finally:")
lines.append("                total -= 1")
lines.append("    return total")
space = {}
exec("\n".join(lines), space)
print(space["long"](3))
