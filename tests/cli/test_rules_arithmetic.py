from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.cli._rules._arithmetic import Sum, work_out
from partwise.errors import InvalidInputError

EXACT = {
    "2+2": "4",
    " 2 + 3 * 4 ": "14",
    "(2+3)*4": "20",
    "0.1+0.2": "0.3",
    "1.10 * 3": "3.3",
    "10/4": "2.5",
    "1/8": "0.125",
    "-7//2": "-4",
    "-7%3": "2",
    "2**10": "1024",
    "2^10": "1024",
    "2**-2": "0.25",
    "6 ÷ 3 × 2 − 1": "3",  # noqa: RUF001 - the signs that people paste
    "0**0": "1",
    "1_000_000*3": "3000000",
    "1e3+1": "1001",
    "1.5E-3": "0.0015",
    "-0.5": "-0.5",
    "--3": "3",
    "0.30000000000000000000000001*10": "3.0000000000000000000000001",
    "99999999999999999999*99999999999999999999": "9999999999999999999800000000000000000001",
    "1**99999999999": "1",
}
FRACTIONS = {
    "1/3": ("1/3", "0.333333333333"),
    "-2/3": ("-2/3", "-0.666666666667"),
    "22/7": ("22/7", "3.14285714286"),
    "100000/3": ("100000/3", "33333.3333333"),
    "1/3/10**40": ("1/3" + "0" * 40, "3.33333333333E-41"),
}
REFUSED = [
    "",
    "   ",
    "hello",
    "two + 2",
    "__import__('os')",
    "(1).real",
    "2(3)",
    "1 2",
    "1,2",
    "[1]",
    "1 < 2",
    "2 +",
    "((1)",
    "1/0",
    "1%0",
    "5//0",
    "0**-1",
    "2**0.5",
    "9**9**9",
    "10**10000",
    "2**99999999999999999999",
    "(10**3000)*(10**3000)",
    "1e999999999",
    "9e99999",
    "e",
    "0x10",
    "1j",
    "+" * 300 + "1",
    "(" * 199,
    "05",
]


@pytest.mark.parametrize("expression", EXACT)
def test_sums_are_exact(expression: str) -> None:
    assert work_out(expression) == Sum(EXACT[expression])


@pytest.mark.parametrize("expression", FRACTIONS)
def test_a_fraction_without_an_end_is_given_as_a_fraction_and_rounded(expression: str) -> None:
    assert work_out(expression) == Sum(*FRACTIONS[expression])


@pytest.mark.parametrize("expression", REFUSED)
def test_anything_else_is_refused_in_words(expression: str) -> None:
    with pytest.raises(InvalidInputError, match=r"work out|zero|digits|exponents"):
        work_out(expression)


@given(left=st.decimals(-(10**9), 10**9, places=6), right=st.integers(-(10**20), 10**20), sign=st.sampled_from("+-*"))
def test_every_exact_result_reads_back_as_what_fractions_say(left: object, right: int, sign: str) -> None:
    operations = {"+": Fraction.__add__, "-": Fraction.__sub__, "*": Fraction.__mul__}

    found = work_out(f"({left:f}){sign}({right})")

    assert Fraction(found.value) == operations[sign](Fraction(str(left)), Fraction(right))


@given(st.text(alphabet="0123456789.+-*/%()^ eE_", max_size=30))
def test_whatever_is_typed_ends_with_a_number_or_a_refusal(expression: str) -> None:
    with suppress(InvalidInputError):
        assert work_out(expression).value
