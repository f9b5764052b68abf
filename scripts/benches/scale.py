#!/usr/bin/python3
"""The time of a call, and the memory of the process, as the number of files, devices and open files grows, and the size of
a file. The work itself is in series.py."""

import math

from benches.common import MIB, NATIVE, OURS, progress
from benches.series import SERIES

# A line that ends higher than this many times its start rises, unless the host's rises as much.
FLAT = 1.5
# The plot, from the lowest time of a call to its highest.
BARS = "▁▂▃▄▅▆▇█"
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def number(text):
    scale = UNITS.get(text[-1:].upper(), 1)
    return int(text[:-1] if scale > 1 else text) * scale


def limits(options):
    """Series → its last number."""
    found = {series.key: series.quick if options.quick else series.numbers[-1] for series in SERIES}
    for word in options.most:
        key, _, value = word.partition("=")
        if key not in found:
            raise RuntimeError(f"--most {word}: there is no series '{key}': {', '.join(found)}")
        try:
            found[key] = number(value)
        except ValueError:
            raise RuntimeError(f"--most {word}: '{value}' is no number") from None
    return found


def numbers_up_to(series, most):
    """The numbers of a series that are less, and the last one itself."""
    return [number for number in series.numbers if number < most] + [most]


def duration(seconds):
    for unit, scale in ("µs", 1e6), ("ms", 1e3):
        if seconds * scale < 1000:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def bars(values, lowest, highest):
    """A bar for each value, by its logarithm. The scale spans a factor of ten at least, so that noise looks flat."""
    span = max(math.log(highest / lowest), math.log(10))
    top = len(BARS) - 1
    return "".join(BARS[round(top * math.log(value / lowest) / span)] for value in values)


def growth(values):
    return values[-1] / values[0]


class Table:
    """A series: its numbers as columns; for each call a line of the host's times and one of ours."""

    def __init__(self, series, points):
        self.series, self.numbers = series, list(points)
        self.points, self.bad, self.rows = points, False, []

    def show(self):
        columns = "".join(f"{self.series.label(number):>11}" for number in self.numbers)
        print(f"\n{self.series.title}\n{'call':<22}{'':<14}{columns}  {'':<{len(self.numbers)}}{'growth':>8}  verdict")
        for call in self.points[self.numbers[0]].seconds:
            self.show_call(call)
        memory = [self.points[number].memory for number in self.numbers]
        word = ""
        if self.series.unit and len(memory) > 1:
            each = (memory[-1] - memory[0]) / (self.numbers[-1] - self.numbers[0])
            word = f"{each:,.0f} bytes for each further {self.series.unit}"
        self.line("memory", OURS, [f"{value / MIB:.1f} MiB" for value in memory],
                  bars(memory, min(memory), max(memory)), growth(memory), word)
        self.rows.append({"call": "memory", "bytes": dict(zip(self.numbers, memory))})

    def show_call(self, call):
        ways = self.points[self.numbers[0]].seconds[call]
        lines = {way: [self.points[number].seconds[call][way] for number in self.numbers] for way in ways}
        every = [value for line in lines.values() for value in line]
        allowed = FLAT * max(1, growth(lines[NATIVE]) if NATIVE in lines else 1)
        self.rows.append({"call": call, "seconds": {way: dict(zip(self.numbers, line)) for way, line in lines.items()}})
        for way, line in lines.items():
            word = ""
            if way == OURS:
                word = "flat" if growth(line) <= allowed else "rises"
                self.bad = self.bad or word == "rises"
            self.line(call, way, [duration(value) for value in line], bars(line, min(every), max(every)),
                      growth(line), word)
            call = ""

    def line(self, call, way, values, plot, grown, word):
        columns = "".join(f"{value:>11}" for value in values)
        print(f"{call:<22}{way:<14}{columns}  {plot}{grown:>8.2f}  {word}".rstrip(), flush=True)


def measure(options, work, binary):
    most = limits(options)
    tables = []
    print("time of one call, or of one entry where a call works on all of them; growth is the last time by the first")
    for series in SERIES:
        if options.rows and options.rows not in series.title:
            continue
        place = work / series.key
        place.mkdir()
        points = {}
        for count, point in series.run(place, binary, numbers_up_to(series, most[series.key]), options.transport):
            points[count] = point
            progress(f"{series.title}: {series.label(count)} done")
        progress(None)
        tables.append(Table(series, points))
        tables[-1].show()
    report = {"quick": options.quick, "transport": options.transport,
              "series": [{"series": table.series.title, "rows": table.rows} for table in tables]}
    return report, any(table.bad for table in tables)
