"""Training loops of many shapes in programs/torch, and how many steps each makes."""

STEPS = {
    "plain_loop": 30,
    "gan": 30,
    "gan_five_to_one": 12,
    "gan_every_fifth": 40,
    "accumulation": 12,
    "scaled": 24,
    "lbfgs": 12,
    "hand_written": 25,
    "quick_by_hand": 2000,
    "data_by_hand": 1500,
    "nested_functions": 42,
    "module_level": 26,
    "evaluation_after_epoch": 36,
    "evaluation_inside": 40,
    "several_models": 30,
    "own_optimizer": 22,
    "two_losses": 28,
    "one_after_the_other": 44,
}
LIKE_OTHERS = {
    "gan_five_to_one", "gan_every_fifth", "scaled", "own_optimizer", "two_losses", "data_by_hand"
}  # fmt: skip
