"""Workers that TF_CONFIG names, under MultiWorkerMirroredStrategy."""

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    weights = tf.Variable(tf.ones((64, 64)))


@tf.function
def train_step(images):
    def replica_step(images):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((images @ weights - images) ** 2)
        gradient = tf.distribute.get_replica_context().all_reduce("MEAN", tape.gradient(loss, weights))
        weights.assign_sub(0.1 * gradient)
        return loss

    losses = strategy.run(replica_step, args=(images,))
    return strategy.reduce("MEAN", losses, axis=None)


data = tf.data.Dataset.from_tensors(tf.random.normal((32, 64), seed=0)).repeat(20)
data = strategy.experimental_distribute_dataset(data.unbatch().batch(32))
for batch in data:
    print(float(train_step(batch)) > 0)
