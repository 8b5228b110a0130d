"""Stands for code that is not the user's: nobody asked for its lines."""


def busy(count):
    total = 0
    for number in range(count):
        total += number
        total ^= 3
    return total
