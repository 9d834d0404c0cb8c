from enum import IntEnum

class Mode(IntEnum):
    SURE_ONLY = 0
    FRESH_DRAWS = 1
    TRACKED = 2
