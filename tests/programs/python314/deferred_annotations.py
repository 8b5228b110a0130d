"""Annotations that are evaluated when they are asked for: names that come later, and side effects."""

import annotationlib
import dataclasses

evaluated = []


def noted(kind):
    evaluated.append(kind.__name__)
    return kind


@dataclasses.dataclass
class Node:
    value: noted(int)
    after: Later | None = None


class Later(Node):
    pass


def step(batch: noted(float), *, scale: Missing = 1.0) -> noted(list):
    weight: noted(str) = scale
    return [batch * weight]


for _ in range(3):
    step(2.0)
print("before", evaluated)
print(annotationlib.get_annotations(Node, format=annotationlib.Format.VALUE))
print(annotationlib.get_annotations(step, format=annotationlib.Format.STRING))
print(annotationlib.get_annotations(step, format=annotationlib.Format.FORWARDREF)["scale"].__arg__)
try:
    print(step.__annotations__)
except NameError as error:
    print(error)
Missing = bool
print(step.__annotations__, step.__annotate__(annotationlib.Format.VALUE))
print("after", len(evaluated), evaluated, Node(1, Later(2)))
