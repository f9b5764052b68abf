#!/usr/bin/python3
"""Tables in which the same work is done in several ways in turn, and compared with the first of them."""

import statistics

from benches.common import drawn, milliseconds, progress


class Ratios:
    """Work done in one way after the other, in an order drawn anew each round.

    Shown are medians, and their ratios to the first way's."""

    def __init__(self, title, ways, options):
        self.ways, self.rounds, self.wanted = ways, options.rounds, options.rows
        self.rows, self.bad = [], False
        self.heading = f"\n{title}\n{'work':<42}{ways[0]:>13}" + "".join(f"{way:>13}{'×':>7}" for way in ways[1:]) + \
            f"{'goal':>7}  verdict"

    def wants(self, name):
        return not self.wanted or self.wanted in name

    def measure(self, name, goal, job, repeated=1, further=()):
        """Does `job(way)` for each way in each round; it returns seconds, or several of them for several rows.

        - repeated: rounds to each one that was asked for.
        - further: names of the rows behind the first, which have no goal.
        - goal: the second way's ratio to the first is to be no more."""
        if not self.wants(name):
            return
        names = (name, *further)
        times = [{way: [] for way in self.ways} for _ in names]
        rounds = self.rounds * repeated
        for turn in range(rounds):
            for way in drawn(self.ways, turn, name):
                progress(f"round {turn + 1} of {rounds}: {name}, {way}")
                done = job(way)
                for row, seconds in zip(times, done if further else (done,)):
                    row[way].append(seconds)
        progress(None)
        for index, (name, row) in enumerate(zip(names, times)):
            self.tell(name, goal if index == 0 else None, row)

    def tell(self, name, goal, times):
        base, *others = self.ways
        medians = {way: statistics.median(times[way]) for way in self.ways}
        ratios = {way: medians[way] / medians[base] for way in others}
        word = "" if goal is None else "ok" if ratios[others[0]] <= goal else "missed"
        self.bad = self.bad or word == "missed"
        if self.heading:
            print(self.heading)
            self.heading = None
        print(f"{name:<42}{milliseconds(medians[base]):>13}"
              + "".join(f"{milliseconds(medians[way]):>13}{ratios[way]:>7.2f}" for way in others)
              + f"{goal or '':>7}  {word}".rstrip(), flush=True)
        self.rows.append({"row": name, "goal": goal, "seconds": times, "ratio": ratios})
