"""How firm each claim of [Riva 2003] is, by section 6 of its page.

`S` (strong) should hold in any faithful reproduction, `M` (moderate) depends on details of TCP and queues, `W` (weak)
rests on a single run or a small sample, or is dubious in the source.
"""

from __future__ import annotations

_NUMBERS = {
    "S": """
    1 2 3 4 5 6 7 8 9 10 12 14 18 20 21 27 28 40 41 42 44 48 50 52 64 66 67 68 69 70 71 72 73 75 76 77 78 80 88
    90 100 103 104 108 109 110 113 114
    """,
    "M": """
    11 13 15 16 17 19 22 23 24 25 26 29 30 31 32 33 36 37 38 39 43 45 46 47 49 51 53 54 55 58 59 60 61 62 63 65
    74 79 81 82 84 85 86 87 89 91 92 93 94 95 96 97 99 101 102 105 106 111 112
    """,
    "W": """
    34 35 56 57 83 98 107
    """,
}

GRADES = {f"R{n}": grade for grade, numbers in _NUMBERS.items() for n in numbers.split()}
