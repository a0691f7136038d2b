"""Quantities: what is measured in results, before it becomes an estimate; one is computed out of others.

A quantity is a function of the results that gives a number, or one value for each repetition. `a / b` is the quantity
whose value is that of `a` over that of `b`; numbers and other functions of the results may stand on either side.
Comparisons give truth values. A quantity that is a number or a truth value is a measure as it is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from crosswind.reproduce.experiment import Results

Asked = ParamSpec("Asked")


def _found(of: Any, r: Results) -> Any:
    return of(r) if callable(of) else of


class Quantity:
    """A function of the results that can be computed with."""

    def __init__(self, of: Callable[[Results], Any]) -> None:
        self._of = of

    def __call__(self, r: Results) -> Any:
        return self._of(r)

    def then(self, change: Callable[[Any], Any]) -> Quantity:
        """What a function makes of its value."""
        return Quantity(lambda r: change(self(r)))

    def _with(self, other: Any, of: Callable[[Any, Any], Any]) -> Quantity:
        return Quantity(lambda r: of(self(r), _found(other, r)))

    def __add__(self, other: Any) -> Quantity:
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Quantity:
        return self._with(other, operator.sub)

    def __mul__(self, other: Any) -> Quantity:
        return self._with(other, operator.mul)

    def __truediv__(self, other: Any) -> Quantity:
        return self._with(other, operator.truediv)

    def __rsub__(self, other: Any) -> Quantity:
        return self._with(other, lambda own, first: first - own)

    def __rtruediv__(self, other: Any) -> Quantity:
        return self._with(other, lambda own, first: first / own)

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> Quantity:
        return self._with(other, operator.lt)

    def __le__(self, other: Any) -> Quantity:
        return self._with(other, operator.le)

    def __gt__(self, other: Any) -> Quantity:
        return self._with(other, operator.gt)

    def __ge__(self, other: Any) -> Quantity:
        return self._with(other, operator.ge)


def measured(of: Callable[Concatenate[Results, Asked], Any]) -> Callable[Asked, Quantity]:
    """Makes `f(results, a)` the quantity `f(a)` of these results: one function for all cells that a claim names."""

    @wraps(of)
    def given(*args: Asked.args, **named: Asked.kwargs) -> Quantity:
        return Quantity(lambda r: of(r, *args, **named))

    return given


def runs(cell: str, column: str, where: pl.Expr | None = None) -> Quantity:
    """A column of the repetition table: one value for each repetition."""
    return Quantity(lambda r: r.of(cell, column, where))


def mean(cell: str, column: str) -> Quantity:
    """The mean of a column over the repetitions, as a number."""
    return Quantity(lambda r: r.mean(cell, column))


def total(some: Iterable[Callable[[Results], Any]]) -> Quantity:
    """The sum of several quantities, repetition by repetition where they have one value for each."""
    every = list(some)
    return Quantity(lambda r: np.sum([q(r) for q in every], axis=0))


def least(some: Iterable[Callable[[Results], Any]]) -> Quantity:
    """The least of several quantities, repetition by repetition where they have one value for each."""
    every = list(some)
    return Quantity(lambda r: np.min([q(r) for q in every], axis=0))


def largest(some: Iterable[Callable[[Results], Any]]) -> Quantity:
    """The largest of several quantities, repetition by repetition where they have one value for each."""
    every = list(some)
    return Quantity(lambda r: np.max([q(r) for q in every], axis=0))
