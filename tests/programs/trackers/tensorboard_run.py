"""Logs to TensorBoard with tensorboardX, which needs no framework."""

import sys

from tensorboardX import SummaryWriter
from training import steps

writer = SummaryWriter(sys.argv[1])
for step, loss in steps():
    writer.add_scalar("loss", loss, step)
writer.close()
