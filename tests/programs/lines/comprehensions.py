"""Comprehensions of every kind, nested and over several lines."""


def main(n):
    squares = [i * i for i in range(n)]
    pairs = [
        (i, j)
        for i in range(n)
        if i % 2
        for j in range(i)
        if j != 3
    ]
    table = {
        i: [
            j
            for j in range(i)
        ]
        for i in range(4)
    }
    letters = {c for word in ["ab", "bc"] for c in word}
    lazy = (x for x in squares if x > 4)
    nested = [[c for c in row] for row in table.values()]
    walrus = [y for x in range(5) if (y := x * 2) > 3]
    print(len(pairs), table, sorted(letters), sum(lazy), nested, walrus)


main(6)
