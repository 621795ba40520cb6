def check_{name}(load, hold):
    """{title}: bulk cargo that shifts. {remark}"""
    findings = []
    tonnes = load["tonnes"]
    if tonnes <= 0:
        findings.append("{name}: no weight given")
        return findings
    volume = tonnes * {factor}
    if volume > hold["capacity_m3"] * SAFETY_SHARE:
        findings.append("{name}: %.1f m3 do not fit into hold %s" % (volume, hold["name"]))
    if volume < hold["capacity_m3"] * 0.5 and tonnes > {limit}:
        findings.append("{name}: half empty hold %s, the load may shift" % hold["name"])
    if tonnes > hold["max_tonnes"]:
        findings.append("{name}: %.1f t are more than the floor of %s bears" % (tonnes, hold["name"]))
    if "{enemy}" in hold["neighbours"]:
        findings.append("{name}: must not lie beside {enemy}")
    return findings
# %%
def check_{name}(load, hold):
    """{title}: packed cargo that can be stacked. {remark}"""
    findings = []
    tonnes = load["tonnes"]
    if tonnes <= 0:
        findings.append("{name}: no weight given")
        return findings
    layers = int(tonnes / {limit}) + 1
    if layers > 6:
        findings.append("{name}: %d layers, six are the most" % layers)
    volume = tonnes * {factor} * 1.08
    if volume > hold["capacity_m3"]:
        findings.append("{name}: %.1f m3 do not fit into hold %s" % (volume, hold["name"]))
    on_deck = max(0.0, volume - hold["capacity_m3"] * DECK_SHARE)
    if on_deck > 0 and load.get("weatherproof") is not True:
        findings.append("{name}: %.1f m3 would lie in the rain" % on_deck)
    if "{enemy}" in hold["neighbours"]:
        findings.append("{name}: takes the smell of {enemy}")
    return findings
# %%
def check_{name}(load, hold):
    """{title}: cargo that must be kept cool and aired. {remark}"""
    findings = []
    tonnes = load["tonnes"]
    temperature = load.get("temperature")
    if tonnes <= 0:
        findings.append("{name}: no weight given")
        return findings
    if temperature is None:
        findings.append("{name}: nobody measured how warm it is")
    elif temperature > {warm}:
        findings.append("{name}: %.1f degrees are too warm, {warm} are the most" % temperature)
    if not hold["ventilated"]:
        findings.append("{name}: hold %s has no air" % hold["name"])
    volume = tonnes * {factor}
    if volume > hold["capacity_m3"] * 0.9:
        findings.append("{name}: no room left for air in hold %s" % hold["name"])
    if "{enemy}" in hold["neighbours"] and tonnes > {limit}:
        findings.append("{name}: too much beside {enemy}")
    return findings
