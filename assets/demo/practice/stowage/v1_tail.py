def check_all(loads, holds):
    """Every load against its hold, by the hold's name; what has no check of its own is reported."""
    findings = []
    for load in loads:
        check = CHECKS.get(load["kind"])
        hold = holds.get(load.get("hold"))
        if check is None:
            findings.append("no check for %s" % load["kind"])
        elif hold is None:
            findings.append("%s: no hold named %s" % (load["kind"], load.get("hold")))
        else:
            findings.extend(check(load, hold))
    return findings
