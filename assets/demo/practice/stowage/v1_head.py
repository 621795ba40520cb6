"""Stowage checks, first version: one function for each kind of cargo.

A load is a dictionary with "kind", "tonnes" and "temperature"; a hold is a dictionary with "name", "capacity_m3",
"max_tonnes", "ventilated" and "neighbours" (the kinds of cargo in the holds beside it). Every check returns a list of
findings as plain text. An empty list means that nothing speaks against it.
"""

SAFETY_SHARE = 0.95
DECK_SHARE = 0.30
WATER_PER_CM = 27.4


def tonnes_per_centimetre(length, beam):
    """How many tonnes sink the ship by one centimetre, for a plain hull."""
    return length * beam * 0.82 * 1.025 / 100.0


def sinkage(tonnes, length, beam):
    """By how many centimetres a load sinks the ship."""
    per_cm = tonnes_per_centimetre(length, beam)
    if per_cm <= 0:
        return 0.0
    return tonnes / per_cm


def over_the_mark(draught, mark, tonnes, length, beam):
    """Whether the ship would lie deeper than its mark with this load."""
    return draught + sinkage(tonnes, length, beam) / 100.0 > mark


def report(findings):
    """The findings as one text, the shortest first."""
    if not findings:
        return "nothing speaks against it"
    return "\n".join(sorted(findings, key=len))
