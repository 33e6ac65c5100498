"""What the judges of main parts share: the figures that may not fall, and what is measured beside them."""

FALL_MAX = 0.005
"""How far a recorded figure may fall."""


def fallen(subject, ours, recorded):
    """Returns a line for each figure of a subject that fell by more than it may since it was recorded."""
    lines = []
    for name, before in recorded.get(subject, {}).items():
        worse = ours[name] - before if name == "below_half" else before - ours[name]
        if worse > (0 if name == "below_half" else FALL_MAX):
            lines.append(f"{subject}: {name} is {ours[name]:.3f}, and was {before:.3f}")
    return lines


def tell(fell):
    """Prints which figures fell. Returns whether none did."""
    for line in fell:
        print(f"worse: {line}")
    return not fell


def others():
    """What else is measured on the same pages: its name, and what it makes of a page's text. None if it is not installed."""
    try:
        import trafilatura
    except ImportError:
        return None
    return f"trafilatura {trafilatura.__version__}", taken_by_trafilatura


def taken_by_trafilatura(page):
    import trafilatura

    return trafilatura.extract(page) or ""
