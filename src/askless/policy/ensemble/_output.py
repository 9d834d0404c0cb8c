"""How the sums of an ensemble become probabilities, classes or numbers.

A policy must round as its source does, or a tie is decided otherwise; so every step is
worked out in the source's order, precision and with its functions. This module does not
know which library the source is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askless._core.ensemble._links import exp_each, sigmoid_each, softmax_rows
from askless.exceptions import InvalidPolicyError
from askless.policy._decide import decide_classes

__all__ = ["LEAST_VALUE", "MOST_VALUE", "Link", "Output"]

Link = Literal[
    "share", "count", "logit", "softmax", "one-vs-rest", "number", "exp", "sigmoid"
]
Decides = Literal["raw", "nearly", "at least 0", "probability"]
Functions = Literal["numpy", "numpy by columns", "scipy", "libm"]
# Links of numbers, and links of a single sum.
NUMBERS = ("number", "exp", "sigmoid")
SINGLE_SUMS = ("logit", *NUMBERS)
# Numbers beyond these could make a sum or a square infinite, or nothing.
MOST_VALUE = 1e100
LEAST_VALUE = 1e-100


@dataclass(frozen=True, eq=False)
class Output:
    """How the sums over all trees become a class or a number.

    Parameters
    ----------
    link : str
        What the sums are: "share", shares of classes to be averaged; "count", weights
        of classes; "logit", the log-odds of the second of two classes; "softmax" and
        "one-vs-rest", log-odds of each class; or a number as it is, "number", its
        logarithm, "exp", or its log-odds, "sigmoid".
    offset : tuple of float
        Where each sum starts.
    divisor : float, default=1.0
        What a sum is divided by: the number of trees, of an average.
    slope : float, default=1.0
        Log-odds are multiplied by it.
    decides_by : {"raw", "nearly", "at least 0", "probability"}, default="raw"
        Decide by the largest sum (of log-odds, by whether it is above 0), by the first
        that is as good as the largest, by whether log-odds are at least 0, or by the
        largest probability. They differ by rounding only.
    is_single : bool, default=False
        Whether the source adds in single precision, and works its link out so.
    functions : {"numpy", "numpy by columns", "scipy", "libm"}, default="numpy"
        Whose exponential the source uses: numpy's, of a matrix that lies in memory row
        by row or column by column, or that of the C library, one number at a time. In
        single precision it is always the latter, unless scipy's softmax is used.

    Examples
    --------
    >>> Output("logit", (0.5,)).decide(np.array([[0.1], [-2.0]]))
    array([1, 0], dtype=int32)
    """

    link: Link
    offset: tuple[float, ...]
    divisor: float = 1.0
    slope: float = 1.0
    decides_by: Decides = "raw"
    is_single: bool = False
    functions: Functions = "numpy"

    def __post_init__(self) -> None:
        """Check that the parts fit."""
        is_one = self.link in SINGLE_SUMS
        if not self.offset or (is_one and len(self.offset) != 1):
            raise InvalidPolicyError(
                f"An ensemble with the link {self.link!r} must have "
                f"{'one sum' if is_one else 'a sum for each class'}. Got "
                f"{len(self.offset)}. Give an offset for each sum."
            )
        numbers = (*self.offset, self.divisor, self.slope)
        if not all(abs(x) <= MOST_VALUE for x in numbers) or not (
            min(self.divisor, self.slope) >= LEAST_VALUE
        ):
            raise InvalidPolicyError(
                "Offsets must be finite, the divisor and the slope positive. Got "
                "others. Import the model again."
            )
        if self.is_single and (self.slope != 1.0 or self.divisor != 1.0):
            raise InvalidPolicyError(
                "An ensemble in single precision must have a divisor and a slope of 1. "
                f"Got {self.divisor:g} and {self.slope:g}. Import the model again."
            )

    @property
    def n_outputs(self) -> int:
        """How many sums are kept."""
        return len(self.offset)

    @property
    def is_number(self) -> bool:
        """Whether the decision is a number and not a class."""
        return self.link in NUMBERS

    def scores(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums as the source has them before its link."""
        return raw if self.divisor == 1.0 else raw / self.divisor

    def numbers(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers that sums stand for."""
        scores = np.ascontiguousarray(self.scores(raw)[:, 0])
        if self.link == "exp":
            return self._exp(scores)
        return self._sigmoid(scores) if self.link == "sigmoid" else scores

    def probabilities(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each class."""
        scores = self.scores(raw)
        if self.link == "share":
            return scores
        if self.link == "count":
            total = scores.sum(axis=1, keepdims=True)
            even = np.full_like(scores, 1.0 / self.n_outputs)
            return np.where(total > 0, scores / np.where(total > 0, total, 1.0), even)
        if self.link == "logit":
            second = self._sigmoid(np.ascontiguousarray(scores[:, 0]))
            first = 1.0 - second
            if self.is_single:
                first = first.astype(np.float32).astype(np.float64)
            return np.column_stack([first, second])
        if self.link == "softmax":
            return self._softmax(scores)
        return self._sigmoid(scores.ravel()).reshape(scores.shape)

    @property
    def _is_libm(self) -> bool:
        return self.is_single or self.functions == "libm"

    def _exp(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._is_libm:
            return exp_each(scores, self.is_single)
        return np.asarray(np.exp(scores))

    def _sigmoid(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._is_libm:
            return sigmoid_each(scores, self.slope, self.is_single)
        # Here, so that policies which need none of it do not wait for scipy.
        from scipy.special import expit

        return np.asarray(expit(self.slope * scores))

    def _softmax(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.slope != 1.0:
            scores = self.slope * scores
        if self.functions == "scipy":
            from scipy.special import softmax

            kind = np.float32 if self.is_single else np.float64
            scores = np.ascontiguousarray(scores, dtype=kind)
            return np.asarray(softmax(scores, axis=1), dtype=np.float64)
        if self._is_libm:
            return softmax_rows(np.ascontiguousarray(scores), self.is_single)
        is_by_columns = self.functions == "numpy by columns"
        # numpy adds a row up in another order if its numbers lie side by side.
        scores = np.array(scores, order="F" if is_by_columns else "C")
        shares = np.asarray(scores - scores.max(axis=1, keepdims=True))
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def decide(self, raw: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the class of each row of sums; on a tie, the first."""
        scores = self.scores(raw)
        if self.link == "logit" and self.decides_by != "probability":
            is_second = (
                scores[:, 0] >= 0
                if self.decides_by == "at least 0"
                else (scores[:, 0] > 0)
            )
            return np.asarray(is_second, dtype=np.int32)
        if self.decides_by == "nearly":
            return decide_classes(scores)
        if self.decides_by == "probability":
            scores = self.probabilities(raw)
        return np.asarray(np.argmax(scores, axis=1), dtype=np.int32)
