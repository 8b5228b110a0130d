"""The hottest lines: where the time is spent, counted on small programs with known times."""

import hand_made_answers as made
from stepscope.analyze.code.hottest_lines import hottest_lines
from stepscope.model import FunctionLines, LinesAnswer, Process

MS = 1_000_000
Row = tuple[int, int, int, str]  # line, hits, ms, text


def function(name: str, calls: int, *rows: Row, file: str = "train.py") -> FunctionLines:
    lines = [made.line(number, hits, ms * MS, text) for number, hits, ms, text in rows]
    return FunctionLines(
        file=file,
        function=name,
        first_line=rows[0][0],
        process=made.MAIN,
        total_ns=sum(row.ns for row in lines),
        lines=lines,
        calls=calls,
    )


def hot_lines(*functions: FunctionLines) -> list[tuple[int, int]]:
    """(line, ms) of the hottest lines."""
    hottest = hottest_lines(LinesAnswer(functions=list(functions)))
    return [(line.location.line, line.ns // MS) for line in hottest]


def test_callers_whose_calls_differ_in_length_are_not_reported() -> None:
    load = function("load", 11, (2, 11, 1000, "    return np.load(path)['x']"))
    main = function("main", 1, (5, 10, 700, "    x = load(p)"), (6, 1, 301, "    y = load(big)"))
    assert hot_lines(load, main) == [(2, 1000)]


def test_a_line_that_calls_many_times_at_once_is_not_reported() -> None:
    make = function("make", 100, (2, 100, 400, "    return heavy(i)"))
    main = function("main", 1, (5, 1, 401, "    xs = [make(i) for i in range(100)]"))
    assert hot_lines(make, main) == [(2, 400)]


def test_a_line_that_does_more_than_it_calls_is_reported() -> None:
    small = function("small", 10, (2, 10, 100, "    return x"))
    main = function("main", 1, (5, 10, 900, "    y = small(x) + np.sort(x)"))
    assert hot_lines(small, main) == [(5, 900), (2, 100)]


def test_of_the_lines_that_pass_most_of_their_time_on_only_one_is_reported() -> None:
    load = function("load", 2, (2, 2, 600, "    read()"))
    main = function(
        "main",
        1,
        (5, 1, 500, "    a = load(x) + sort(x)"),
        (6, 1, 500, "    b = load(y) + sort(y)"),
    )
    assert hot_lines(load, main) == [(2, 600), (5, 500)]


def test_calls_that_the_text_does_not_name_are_seen() -> None:
    item = function("Data.__getitem__", 30, (2, 30, 300, "    return decode(i)"))
    forward = function("Model.forward", 30, (5, 30, 200, "    return x @ self.w"))
    main = function(
        "main",
        1,
        (6, 1, 0, "    data = Data(path)"),
        (7, 1, 0, "    model = Model(10)"),
        (8, 31, 301, "    for x in data:"),
        (9, 30, 201, "        out = model(x)"),
    )
    assert hot_lines(item, forward, main) == [(2, 300), (5, 200)]


def test_importing_one_s_own_module_is_that_module_s_time() -> None:
    module = function("<module>", 1, (3, 1, 80, "table = build()"), file="pkg/tables.py")
    main = function("<module>", 1, (1, 1, 81, "from pkg.tables import table"))
    assert hot_lines(module, main) == [(3, 80)]


def test_a_comprehension_is_part_of_its_line() -> None:
    make = function("make", 9, (2, 9, 90, "    return heavy(i)"))
    inner = function("main.<locals>.<listcomp>", 1, (5, 9, 90, "    xs = [make(i) for i in y]"))
    main = function("main", 1, (5, 1, 91, "    xs = [make(i) for i in y]"))
    assert hot_lines(make, inner, main) == [(2, 90)]


def test_a_comprehension_over_several_lines_has_their_time() -> None:
    inner = function(
        "main.<locals>.<listcomp>", 1, (5, 9, 1, "    xs = ["), (6, 9, 90, "        np.sort(x)")
    )
    main = function("main", 1, (5, 1, 92, "    xs = ["))
    assert hot_lines(inner, main) == [(6, 90)]


def test_a_recursion_has_no_more_time_than_its_callers_waited() -> None:
    fib = function(
        "fib", 100, (2, 100, 5, "    if n < 2:"), (4, 50, 900, "    return fib(n - 1) + fib(n - 2)")
    )
    main = function("main", 1, (7, 1, 20, "    fib(10)"))
    assert hot_lines(fib, main) == [(4, 20), (2, 5)]


def test_a_worker_looked_at_alone_has_its_own_hottest_lines() -> None:
    worker = Process(role="worker", rank=None, pid=None)
    rows = function("load", 1, (2, 1, 10, "    read()"))
    assert hot_lines(made.changed(rows, process=worker)) == [(2, 10)]
