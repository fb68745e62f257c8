"""A typed environment that cannot be built: every session ends with FACTORY_ERROR before it begins."""

from __future__ import annotations

from misbehave_env import MisbehaveAction, MisbehaveEnvironment, MisbehaveObservation


class BrokenEnvironment(MisbehaveEnvironment):
    """Its data set is missing."""

    def __init__(self) -> None:
        raise RuntimeError("the data set is missing")


PARTS = (BrokenEnvironment, MisbehaveAction, MisbehaveObservation)
