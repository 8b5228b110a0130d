"""The script has its own profiler: in the middle, as a context, one too many, as a server."""

import pathlib
import sys

import jax
from parts import batches, loss_of, parameters, tell


@jax.jit
def update(params, images, labels):
    loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


folder = pathlib.Path(sys.argv[1])
params = parameters()
for number, (images, labels) in enumerate(batches(20)):
    if number == 7:  # inside of a window of ours
        jax.profiler.start_trace(str(folder / "first"))
        try:
            jax.profiler.start_trace(folder)
        except RuntimeError as error:
            print(error)
    params, loss = update(params, images, labels)
    if number == 9:
        loss.block_until_ready()
        jax.profiler.stop_trace()
with jax.profiler.trace(folder / "second"):
    params, loss = update(params, images, labels)
    loss.block_until_ready()
try:
    jax.profiler.stop_trace()
except RuntimeError as error:
    print(error)
server = jax.profiler.start_server(int(sys.argv[2]))
for images, labels in batches(20):
    params, loss = update(params, images, labels)
jax.profiler.stop_server()
print(sorted(path.suffix for path in folder.rglob("*") if path.is_file()))
tell(loss)
