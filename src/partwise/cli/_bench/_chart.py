"""The race as a picture: bars in the terminal, lines in an SVG file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ._race import Row

__all__ = ["bars", "svg"]

_BAR = 40
_WIDTH, _HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 190, 44, 54
_COLOURS = (
    "#0b7285",
    "#e8590c",
    "#5f3dc4",
    "#2b8a3e",
    "#846358",
    "#1864ab",
    "#868e96",
    "#a61e4d",
    "#495057",
)
# The lines that the eye should find first.
_FIRST = {"partwise": "#d6336c", "floor": "#343a40"}
_HIDDEN = {"partwise-twin"}


def bars(rows: Sequence[Row]) -> str:
    """Return one bar for each row, its length the logarithm of the median time, sizes apart."""
    shown = [row for row in rows if row.peer not in _HIDDEN]
    if not shown:
        return ""
    low = math.log10(max(0.1, min(row.median_us for row in shown))) - 0.15
    span = max(0.3, math.log10(max(row.median_us for row in shown)) - low)
    width = max(len(row.peer) for row in shown)
    lines: list[str] = []
    for size in dict.fromkeys(row.slices for row in shown):
        lines.append(f"{size:,} slices, µs per change (each further bar length is a factor)")
        for row in sorted((row for row in shown if row.slices == size), key=lambda row: row.median_us):
            length = max(1, round((math.log10(max(0.1, row.median_us)) - low) / span * _BAR))
            lines.append(f"  {row.peer.ljust(width)} {'█' * length} {row.median_us:,.1f}")
    return "\n".join(lines)


def svg(rows: Sequence[Row], caption: str) -> str:
    """Return a chart of time per change over the number of slices, both logarithmic.

    Args:
        rows: The rows of all sizes.
        caption: Where and when it was measured; stands below the chart.
    """
    shown = [row for row in rows if row.peer not in _HIDDEN]
    x = _Axis([row.slices for row in shown], _LEFT, _WIDTH - _RIGHT)
    y = _Axis([row.median_us for row in shown], _HEIGHT - _BOTTOM, _TOP)
    peers = list(dict.fromkeys(row.peer for row in shown))
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f"<title>Cost of one change over the number of slices. {escape(caption)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="22" font-size="14" fill="#212529">One part changes: microseconds until its listener '
        "has been told</text>",
        *_grid(x, y),
        *_curves(shown, peers, x, y),
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}" font-size="10" fill="#868e96">{escape(caption)}</text>',
        "</svg>",
    ]
    return "\n".join(body) + "\n"


class _Axis:
    """A logarithmic axis from one coordinate to another."""

    def __init__(self, values: Sequence[float], start: float, stop: float) -> None:
        exponents = [math.log10(max(0.01, value)) for value in values] or [0.0]
        self.low, self.high = math.floor(min(exponents)), math.ceil(max(exponents))
        self.high = max(self.high, self.low + 1)
        self._start, self._stop = start, stop

    def at(self, value: float) -> float:
        share = (math.log10(max(0.01, value)) - self.low) / (self.high - self.low)
        return round(self._start + share * (self._stop - self._start), 1)

    def ticks(self) -> list[float]:
        return [10.0**exponent for exponent in range(self.low, self.high + 1)]


def _grid(x: _Axis, y: _Axis) -> list[str]:
    lines: list[str] = []
    for tick in y.ticks():
        at = y.at(tick)
        lines.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at}" y2="{at}" stroke="#e9ecef"/>')
        lines.append(f'<text x="{_LEFT - 8}" y="{at + 4}" text-anchor="end" fill="#495057">{tick:,.10g} µs</text>')
    for tick in x.ticks():
        at = x.at(tick)
        lines.append(f'<line x1="{at}" x2="{at}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}" stroke="#f1f3f5"/>')
        below = _HEIGHT - _BOTTOM + 18
        lines.append(f'<text x="{at}" y="{below}" text-anchor="middle" fill="#495057">{tick:,.0f} slices</text>')
    return lines


def _curves(rows: Sequence[Row], peers: Sequence[str], x: _Axis, y: _Axis) -> list[str]:
    lines: list[str] = []
    ends: list[tuple[float, str, str]] = []
    for number, peer in enumerate(peers):
        own = sorted((row for row in rows if row.peer == peer), key=lambda row: row.slices)
        colour = _FIRST.get(peer, _COLOURS[number % len(_COLOURS)])
        points = " ".join(f"{x.at(row.slices)},{y.at(row.median_us)}" for row in own)
        weight = 3 if peer == "partwise" else 1.6
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{weight}"/>')
        lines += [f'<circle cx="{x.at(row.slices)}" cy="{y.at(row.median_us)}" r="3" fill="{colour}"/>' for row in own]
        ends.append((y.at(own[-1].median_us), peer, colour))
    below = -math.inf
    for at, peer, colour in sorted(ends):
        below = max(at, below + 14)  # names do not cover each other
        lines.append(f'<text x="{_WIDTH - _RIGHT + 10}" y="{below + 4}" fill="{colour}">{escape(peer)}</text>')
    return lines
