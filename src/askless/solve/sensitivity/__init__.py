"""Which prices, priors and probabilities a solution hangs on."""

from askless.solve.sensitivity._report import Change, Influence, Sensitivity

__all__ = ["Change", "Influence", "Sensitivity"]
