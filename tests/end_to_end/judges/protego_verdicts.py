"""Asks Protego: each line of standard input names a robots.txt, user agents and paths; the answer is a line of 1 (allowed) and 0."""

import json
import sys

from protego import Protego

for line in sys.stdin:
    question = json.loads(line)
    with open(question["file"], encoding="utf-8-sig", newline="") as file:
        robots = Protego.parse(file.read())
    verdicts = (
        robots.can_fetch("https://a.example" + path, agent) for agent in question["agents"] for path in question["paths"]
    )
    print("".join("1" if allowed else "0" for allowed in verdicts))
