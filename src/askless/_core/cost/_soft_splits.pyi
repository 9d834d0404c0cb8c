CRITERIA: dict[str, int]
