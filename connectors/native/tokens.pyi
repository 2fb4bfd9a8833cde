class Scanner:
    slots: int
