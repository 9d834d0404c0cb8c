VALUES: dict[str, int]

class Sampling:
    n_samples: int
    def __init__(
        self,
        n_samples: int,
        *,
        value: str = "cost",
        greedy_first: bool = True,
        prunes: bool = False,
        seed: int = 0,
        n_threads: int = 1,
    ) -> None: ...
