"""tf.function is applied again and again, to the script's own function and to a library's."""

import tensorflow as tf
from borrowed import doubled


def tripled(x):
    return 3 * x


for number in range(4):
    x = tf.constant(float(number))
    print(float(tf.function(tripled)(x)), float(tf.function(doubled)(x)))
