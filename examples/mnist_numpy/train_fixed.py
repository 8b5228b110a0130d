"""The same training, but the data set is read once: `get_dataset` keeps its result."""

import functools

import train

train.get_dataset = functools.cache(train.get_dataset)

if __name__ == "__main__":
    train.main()
