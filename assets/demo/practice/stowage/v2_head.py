"""Stowage checks, second version: one class for each kind of cargo, all figures in tables.

Loads and holds are data classes; a rule yields findings with a severity, so that a caller can tell a warning from a
refusal. Figures that differ between kinds are class attributes, what is common lives in the base class.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Iterator, Optional


class Severity(Enum):
    """How much a finding weighs."""

    NOTE = "note"
    WARNING = "warning"
    REFUSAL = "refusal"


@dataclass(frozen=True)
class Finding:
    """What speaks against a load, and how much it weighs."""

    kind: str
    severity: Severity
    text: str


@dataclass(frozen=True)
class Load:
    """What is to be stowed."""

    kind: str
    tonnes: float
    temperature: Optional[float] = None
    weatherproof: bool = False


@dataclass(frozen=True)
class Hold:
    """Where it is to be stowed."""

    name: str
    capacity_m3: float
    max_tonnes: float
    ventilated: bool = True
    neighbours: frozenset = field(default_factory=frozenset)


class Rule:
    """What every kind of cargo has in common."""

    kind = ""
    factor = 1.0
    enemies: frozenset = frozenset()
    fill_share = 0.95

    def volume(self, load: Load) -> float:
        return load.tonnes * self.factor

    def check(self, load: Load, hold: Hold) -> Iterator[Finding]:
        if load.tonnes <= 0:
            yield self.refuse("no weight given")
            return
        if self.volume(load) > hold.capacity_m3 * self.fill_share:
            yield self.refuse(f"{self.volume(load):.1f} m3 do not fit into hold {hold.name}")
        if load.tonnes > hold.max_tonnes:
            yield self.refuse(f"{load.tonnes:.1f} t are more than the floor of {hold.name} bears")
        for enemy in sorted(self.enemies & hold.neighbours):
            yield self.warn(f"lies beside {enemy}")
        yield from self.special(load, hold)

    def special(self, load: Load, hold: Hold) -> Iterator[Finding]:
        return iter(())

    def warn(self, text: str) -> Finding:
        return Finding(self.kind, Severity.WARNING, text)

    def refuse(self, text: str) -> Finding:
        return Finding(self.kind, Severity.REFUSAL, text)
