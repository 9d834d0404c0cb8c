class StateTable:
    n_entries: int
    n_evictions: int
    max_bytes: int
    def __init__(self, max_bytes: int) -> None: ...
