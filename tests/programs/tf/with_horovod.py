"""Two ranks of an eager loop, with Horovod's tape and its broadcast before the first step."""

import horovod.tensorflow as hvd
import keras
import tensorflow as tf
from parts import classifier, dataset, loss_of, tell

hvd.init()
keras.utils.set_random_seed(hvd.rank())
model = classifier()
optimizer = keras.optimizers.SGD(0.1)
hvd.broadcast_variables(model.variables, root_rank=0)
losses = []
for number, (images, labels) in enumerate(dataset(40)):
    if number % 2 != hvd.rank():
        continue
    with tf.GradientTape() as tape:
        loss = loss_of(model(images, training=True), labels)
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    losses.append(loss)
tell([hvd.allreduce(tf.reduce_mean(losses))])
