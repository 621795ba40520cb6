class {class}Rule(Rule):
    """{title}: bulk cargo that shifts when the hold is not full.

    {remark}

    A hold that is less than half full needs boards above {limit} tonnes; the old version only looked at
    the volume and let the same load pass where the hold was a little smaller. The warning names the hold, so that the
    person at the hatch knows where the boards have to go.
    """

    kind = "{name}"
    factor = {factor}
    enemies = frozenset({"{enemy}"})
    boards_above = {limit}

    def special(self, load: Load, hold: Hold) -> Iterator[Finding]:
        filled = self.volume(load) / hold.capacity_m3 if hold.capacity_m3 else 1.0
        if filled < 0.5 and load.tonnes > self.boards_above:
            yield self.warn(f"hold {hold.name} is {filled:.0%} full, boards are needed")
        if filled < 0.1:
            yield Finding(self.kind, Severity.NOTE, f"hold {hold.name} is nearly empty")
# %%
class {class}Rule(Rule):
    """{title}: packed cargo that can be stacked in layers.

    {remark}

    Six layers are the most that the lowest one bears. What does not find room below lies on deck, where only
    weatherproof goods may lie; the old version compared the volume with the hold twice and knew no severity.
    """

    kind = "{name}"
    factor = {factor} * 1.08
    enemies = frozenset({"{enemy}"})
    tonnes_per_layer = {limit}
    fill_share = 1.0

    def special(self, load: Load, hold: Hold) -> Iterator[Finding]:
        layers = int(load.tonnes / self.tonnes_per_layer) + 1
        if layers > 6:
            yield self.refuse(f"{layers} layers, six are the most")
        on_deck = max(0.0, self.volume(load) - hold.capacity_m3 * 0.30)
        if on_deck and not load.weatherproof:
            yield self.warn(f"{on_deck:.1f} m3 would lie in the rain")
# %%
class {class}Rule(Rule):
    """{title}: cargo that must be kept cool and aired.

    {remark}

    It is refused without a measured temperature: the old version only noted that, and the note was lost among
    others. A tenth of the hold stays free, so that air can move between the goods.
    """

    kind = "{name}"
    factor = {factor}
    enemies = frozenset({"{enemy}"})
    fill_share = 0.9
    warmest = {warm}

    def special(self, load: Load, hold: Hold) -> Iterator[Finding]:
        if load.temperature is None:
            yield self.refuse("nobody measured how warm it is")
        elif load.temperature > self.warmest:
            yield self.refuse(f"{load.temperature:.1f} degrees, {self.warmest} are the most")
        if not hold.ventilated:
            yield self.refuse(f"hold {hold.name} has no air")
