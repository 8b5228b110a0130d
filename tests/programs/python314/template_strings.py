"""Template strings: what is in their braces runs, on lines of its own too."""

from string.templatelib import Interpolation

calls = []


def value(name):
    calls.append(name)
    return name.upper()


def text(template):
    return "".join(
        format(part.value, part.format_spec) if isinstance(part, Interpolation) else part
        for part in template
    )


def build(count):
    made = []
    for number in range(count):
        made.append(t"{value('a')!r:>4} of {number:03d}{
            value('b')
        }")
    return made


for template in build(4):
    print(text(template), template.strings, [part.expression for part in template.interpolations])
print(calls, text(t"{value(t'{value('inner')}'.strings[0] or 'empty')}"))
