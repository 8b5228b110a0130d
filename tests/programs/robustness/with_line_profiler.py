"""Runs the script it is told under the real line_profiler, with its module and every `def` of it added; the
last line on stderr is what was counted, as JSON."""

import ast
import json
import sys
import types

import line_profiler

path = sys.argv[1]
profiler = line_profiler.LineProfiler()


def add(function):
    profiler.add_function(function)  # each of them anew: it counts only functions it was given
    return function


tree = ast.parse(open(path).read())
for node in ast.walk(tree):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        decorator = ast.Name("add_to_profiler", ast.Load())  # the innermost: it gets the function itself
        node.decorator_list.append(ast.copy_location(decorator, node))
        decorator.end_lineno, decorator.end_col_offset = node.lineno, node.col_offset
space = {"__name__": "__main__", "__file__": path, "add_to_profiler": add}
profiler.enable_by_count()
module = add(types.FunctionType(compile(tree, path, "exec"), space))
exec(module.__code__, space)
profiler.disable_by_count()
timings = profiler.get_stats().timings
rows = [(name, first, [row[:2] for row in lines]) for (_, first, name), lines in timings.items()]
print("\n" + json.dumps(rows), file=sys.stderr)
