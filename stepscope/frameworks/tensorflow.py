"""TensorFlow and Keras, in their own words."""

from typing import Final

from stepscope.frameworks.facts import Advice, Framework, Words

_WORDS: Final = Words(
    eager=Advice(
        "Put the step into a @tf.function: the operators are then launched by the graph and not "
        "one by one from Python.",
        "tf-function",
    ),
    short_kernels="A larger batch makes the same kernels work longer; if the batch size is fixed, "
    "let XLA put them together: @tf.function(jit_compile=True), compile(jit_compile=True) in "
    "Keras.",
    idle_device="Give it more at a time: a larger batch, @tf.function(jit_compile=True) or "
    "several steps in one call (steps_per_execution in Keras) against launch overhead, tf.data's "
    "prefetch and num_parallel_calls against waiting for input, and no .numpy() in the step.",
    mixed_precision=Advice(
        "Mixed precision: keras.mixed_precision.set_global_policy('mixed_float16') (or "
        "'mixed_bfloat16').",
        "tf-mixed-precision",
    ),
    waiting_for_input=Advice(
        "Prepare batches ahead of the step: tf.data's prefetch and num_parallel_calls "
        "(tf.data.AUTOTUNE), and cache() for what is the same in every epoch.",
        "tf-data",
    ),
    pageable_copy=Advice(
        "Copy ahead of the step: dataset.apply(tf.data.experimental.prefetch_to_device(…)) as the "
        "last stage.",
    ),
    waiting_for_device="Keep results on the device: no .numpy(), float(), print or if on a tensor "
    "in the step; read the loss every N steps.",
    exposed_collectives="Fewer and larger pieces (tf.distribute.experimental.CommunicationOptions("
    "bytes_per_pack=…)), gradients in 16 bits, or several batches for each exchange.",
    exposed_between_ranks="Send gradients less often (backward_passes_per_step in Horovod's "
    "DistributedOptimizer), in fewer and larger pieces, or in 16 bits "
    "(compression=hvd.Compression.fp16).",
    recompilation=Advice(
        "declare the dimension dynamic (reduce_retracing=True, an input signature)", "tf-retracing"
    ),
    memory_growth="Keep numbers, not tensors (float(loss), loss.numpy())",
    float32=Advice(
        "Make data and model 32 bits: tf.cast or dtype=float32 where arrays come from NumPy "
        "(which makes 64 bits by default), and leave Keras' floatx at 'float32'.",
    ),
    threads="tf.config.threading.set_intra_op_parallelism_threads({count}), ",
)
TENSORFLOW: Final = Framework(
    "tensorflow", ("tensorflow", "tensorflow-cpu"), ("/tensorflow/",), _WORDS
)
KERAS: Final = Framework("keras", ("keras", "tf_keras"), ("/keras/", "/tf_keras/"))
