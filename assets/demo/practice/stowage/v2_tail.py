def check_all(loads, holds) -> list:
    """Every load against its hold; the heaviest findings come first."""
    weight = {Severity.REFUSAL: 0, Severity.WARNING: 1, Severity.NOTE: 2}
    findings = []
    for load, name in loads:
        rule, hold = RULES.get(load.kind), holds.get(name)
        if rule is None:
            findings.append(Finding(load.kind, Severity.REFUSAL, "no rule for this kind"))
        elif hold is None:
            findings.append(Finding(load.kind, Severity.REFUSAL, f"no hold named {name}"))
        else:
            findings.extend(rule.check(load, hold))
    return sorted(findings, key=lambda finding: weight[finding.severity])
