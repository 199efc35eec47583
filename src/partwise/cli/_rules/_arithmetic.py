"""Arithmetic with exact numbers: no floats, no names, no calls, and no result that fills the memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeAlias

import attrs

from partwise.errors import InvalidInputError

__all__ = ["Sum", "work_out"]

_LONGEST_EXPRESSION = 200
_LARGEST_EXPONENT = 10_000
_MOST_BITS = 13_000  # about 3,900 digits: what Python turns into text without being asked twice
_MOST_DECIMALS = 30
_SIGNIFICANT = 12
_ALLOWED = re.compile(r"[\d\s.+\-*/%()eE_]*")
_SIGNS = str.maketrans({"^": "**", "\u00d7": "*", "\u00f7": "/", "\u2212": "-"})
_NUMBER = re.compile(r"(?P<digits>[\d_]*\.?[\d_]*)(?:[eE](?P<exponent>[+-]?\d+))?")

_Operation: TypeAlias = Callable[[Fraction, Fraction], Fraction]


@attrs.frozen
class Sum:
    """What an expression comes to.

    Attributes:
        value: The exact value: a whole number, a decimal number, or a fraction such as ``"1/3"``.
        about: The value of a fraction as a rounded decimal number; None for others.
    """

    value: str
    about: str | None = None


def work_out(expression: str) -> Sum:
    """Work out an expression of numbers, ``+ - * / // % **`` and parentheses, exactly.

    Raises:
        InvalidInputError: It is no such expression, it divides by zero, or it becomes too large.
    """
    text = expression.strip().translate(_SIGNS)
    if not text or len(text) > _LONGEST_EXPRESSION or not _ALLOWED.fullmatch(text):
        raise _no_sum(expression)
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise _no_sum(expression) from error
    return _shown(_Reading(text, expression).value(tree.body))


def _no_sum(expression: str) -> InvalidInputError:
    shown = expression if len(expression) <= _LONGEST_EXPRESSION else f"{expression[:_LONGEST_EXPRESSION]}…"
    return InvalidInputError(
        f"{shown!r} is not something I can work out: give numbers, + - * / // % **, and parentheses, "
        f"in at most {_LONGEST_EXPRESSION} characters."
    )


@attrs.frozen
class _Reading:
    text: str
    expression: str

    def value(self, node: ast.expr) -> Fraction:
        match node:
            case ast.Constant():
                return self._number(node)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return self._bounded(_OPERATIONS[type(op)], self.value(left), self.value(right))
            case _:
                raise _no_sum(self.expression)

    def _number(self, node: ast.Constant) -> Fraction:
        # The source says more than the constant, which is a float already.
        written = _NUMBER.fullmatch(ast.get_source_segment(self.text, node) or "")
        if written is None or abs(int(written["exponent"] or 0)) > _LARGEST_EXPONENT // 10:
            raise _too_large(self.expression)
        return Fraction(written[0].replace("_", ""))

    def _bounded(
        self, operation: Callable[[Fraction, Fraction], Fraction], left: Fraction, right: Fraction
    ) -> Fraction:
        try:
            result = operation(left, right)
        except ZeroDivisionError as error:
            text = f"{self.expression!r} divides by zero."
            raise InvalidInputError(text) from error
        if _bits(result) > _MOST_BITS:
            raise _too_large(self.expression)
        return result


def _bits(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def _too_large(expression: str) -> InvalidInputError:
    return InvalidInputError(f"The result of {expression!r} has too many digits.")


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        text = "Only whole numbers can be exponents: the result would not be exact."
        raise InvalidInputError(text)
    if base in (0, 1) and exponent >= 0:
        return base if exponent else Fraction(1)
    if abs(exponent) > _LARGEST_EXPONENT or _bits(base) * abs(exponent) > 2 * _MOST_BITS:
        text = f"{base} to the power of {exponent} has too many digits."
        raise InvalidInputError(text)
    return base ** int(exponent)


def _whole_division(left: Fraction, right: Fraction) -> Fraction:
    return Fraction(left // right)


_OPERATIONS: Mapping[type[ast.operator], _Operation] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: _whole_division,
    ast.Mod: lambda left, right: left % right,
    ast.Pow: _power,
}


def _shown(number: Fraction) -> Sum:
    if number.denominator == 1:
        return Sum(str(number.numerator))
    places = _decimal_places(number.denominator)
    if places is not None and places <= _MOST_DECIMALS:
        return Sum(_decimal(number, places))
    return Sum(f"{number.numerator}/{number.denominator}", _rounded(number))


def _decimal_places(denominator: int) -> int | None:
    """How many decimals make 1/denominator exact; None when none do."""
    places, rest = 0, denominator
    while rest > 1 and places <= _MOST_DECIMALS:
        places += 1
        rest //= _common(rest)
    return places if rest == 1 else None


def _common(number: int) -> int:
    return 10 if number % 10 == 0 else 5 if number % 5 == 0 else 2 if number % 2 == 0 else 1


def _decimal(number: Fraction, places: int) -> str:
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")


def _rounded(number: Fraction) -> str:
    context = Context(prec=_SIGNIFICANT)
    return str(context.divide(Decimal(number.numerator), Decimal(number.denominator)))
