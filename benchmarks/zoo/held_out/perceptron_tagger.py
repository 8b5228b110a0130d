"""Part-of-speech tagger: an averaged perceptron in plain Python over a made-up language."""

import argparse
import gc
import random
from collections import defaultdict

from step_clock import StepClock

ZOO = {"id": "gc-pressure", "function": "Tagger.learn", "framework": "numpy"}

TAGS = ("NOUN", "VERB", "ADJ", "DET", "ADV")
ENDINGS = {"NOUN": "um", "VERB": "ar", "ADJ": "ic", "DET": "e", "ADV": "ly"}
FOLLOWS = {
    "NOUN": ("VERB", "VERB", "ADV"),
    "VERB": ("DET", "DET", "ADV"),
    "ADJ": ("NOUN", "NOUN", "ADJ"),
    "DET": ("ADJ", "NOUN"),
    "ADV": ("VERB", "ADJ", "DET"),
}


class Token:
    def __init__(self, sentence, position, word, tag):
        self.sentence = sentence
        self.position = position
        self.word = word
        self.tag = tag
        self.features = None


class Sentence:
    """A row of tokens, each of which can find its neighbours through the sentence."""

    def __init__(self, words, tags):
        self.tokens = [
            Token(self, i, *pair) for i, pair in enumerate(zip(words, tags, strict=True))
        ]

    def word(self, position):
        return self.tokens[position].word if 0 <= position < len(self.tokens) else "<edge>"


def features(token):
    if token.features is None:
        before = token.sentence.word(token.position - 1)
        after = token.sentence.word(token.position + 1)
        token.features = [
            f"word={token.word}",
            f"end={token.word[-2:]}",
            f"before={before}",
            f"after={after}",
            f"ends={before[-2:]},{token.word[-2:]}",
        ]
    return token.features


def make_corpus(sentences, rng):
    stems = [
        "".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(2))
        for _ in range(300)
    ]
    corpus = []
    for _ in range(sentences):
        tags = [rng.choice(TAGS)]
        while len(tags) < 14:
            tags.append(rng.choice(FOLLOWS[tags[-1]]))
        words = [rng.choice(stems) + (ENDINGS[tag] if rng.random() < 0.7 else "") for tag in tags]
        corpus.append(Sentence(words, tags))
    return corpus


class Tagger:
    def __init__(self, collect_each_batch):
        self.weights = defaultdict(lambda: dict.fromkeys(TAGS, 0.0))
        self.totals = defaultdict(float)
        self.seen = 0
        self.collect_each_batch = collect_each_batch

    def predict(self, found):
        scores = dict.fromkeys(TAGS, 0.0)
        for feature in found:
            for tag, weight in self.weights[feature].items():
                scores[tag] += weight
        return max(TAGS, key=scores.get)

    def learn(self, batch):
        """One pass over the sentences of the batch; returns the share of right guesses."""
        right = total = 0
        for sentence in batch:
            for token in sentence.tokens:
                found = features(token)
                guess = self.predict(found)
                self.seen += 1
                total += 1
                if guess == token.tag:
                    right += 1
                    continue
                for feature in found:
                    self.nudge(feature, token.tag, 1.0)
                    self.nudge(feature, guess, -1.0)
        if self.collect_each_batch:
            gc.collect()  # keeps the memory flat
        return right / total

    def nudge(self, feature, tag, amount):
        self.weights[feature][tag] += amount
        self.totals[feature, tag] += self.seen * amount


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--batch", type=int, default=150)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()

    rng = random.Random(0)
    corpus = make_corpus(args.sentences, rng)
    tagger = Tagger(collect_each_batch=not args.fixed)

    clock = StepClock()
    for epoch in range(args.epochs):
        rng.shuffle(corpus)
        shares = []
        for start in range(0, len(corpus), args.batch):
            shares.append(tagger.learn(corpus[start : start + args.batch]))
            clock.tick()
        print(f"epoch {epoch}: {100 * sum(shares) / len(shares):.2f} % right")
        gc.collect()
    clock.dump()


if __name__ == "__main__":
    main()
