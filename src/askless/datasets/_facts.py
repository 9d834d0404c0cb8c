"""What is known of the public data sets: their sizes, and which columns are no tests.

Facts only, in our own words; no data. This module reads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PUBLIC_SETS", "PublicSet"]


@dataclass(frozen=True)
class PublicSet:
    """The facts of one public data set.

    Parameters
    ----------
    name : str
        What it is called here.
    n_cases, n_tests, n_classes : int
        Its size; ids are not counted as tests.
    description : str
        What a case is, and what is to be decided.
    file : str, default=""
        The name of its file without ``.csv.gz``, if that differs from `name`.
    ids : tuple of str, default=()
        Columns that are no tests.
    priced_as : str, default=""
        The set whose file of costs serves this one too.

    Examples
    --------
    >>> PublicSet("iris", 150, 4, 3, "Iris flowers: which species.").file_name
    'iris.csv.gz'
    """

    name: str
    n_cases: int
    n_tests: int
    n_classes: int
    description: str
    file: str = ""
    ids: tuple[str, ...] = ()
    priced_as: str = ""

    @property
    def file_name(self) -> str:
        """The name of its file in a data folder."""
        return f"{self.file or self.name}.csv.gz"


def _aslib(name: str, n_cases: int, n_tests: int, n_classes: int) -> PublicSet:
    return PublicSet(
        f"aslib_{name}",
        n_cases,
        n_tests,
        n_classes,
        "Which solver is fastest on a problem; costs are measured seconds.",
    )


def _streed(name: str, n_cases: int, n_tests: int, n_classes: int) -> PublicSet:
    return PublicSet(
        f"streed_{name}",
        n_cases,
        n_tests,
        n_classes,
        f"The {name} set, coded for cost-sensitive trees; costs and mistakes.",
    )


_SETS = (
    # Everyday benchmarks.
    PublicSet("adult", 48842, 14, 2, "Census: income above 50,000 dollars or not."),
    PublicSet(
        "boston_housing_q4", 506, 13, 4, "Boston suburbs: quarter of house prices."
    ),
    PublicSet(
        "breast_cancer_ljubljana", 286, 9, 2, "Patients: does breast cancer come back."
    ),
    PublicSet(
        "car_evaluation", 1728, 6, 4, "Cars: how acceptable to a buyer.", file="car"
    ),
    PublicSet("connect_4", 67557, 42, 3, "Connect-4 positions: who wins."),
    PublicSet("covertype", 581012, 54, 7, "Patches of land: which forest grows there."),
    PublicSet("dna_statlog", 3186, 180, 3, "DNA: which splice junction, if any."),
    PublicSet("flare_keel", 1066, 11, 6, "Sunspot regions: their Zurich class."),
    PublicSet("flare_uci", 1389, 12, 3, "Sunspot regions: number of X-class flares."),
    PublicSet("glass", 214, 9, 6, "Pieces of glass: what they were made for."),
    PublicSet("house_votes_84", 435, 16, 2, "Members of Congress: which party."),
    PublicSet("ionosphere", 351, 34, 2, "Radar echoes: good or bad."),
    PublicSet("iris", 150, 4, 3, "Iris flowers: which species."),
    PublicSet("kr_vs_kp", 3196, 36, 2, "Chess endgame, rook against pawn: won or not."),
    PublicSet("krk", 28056, 6, 18, "Chess endgame, king and rook: moves to mate."),
    PublicSet("magic", 19020, 10, 2, "Telescope pictures: gamma ray or background."),
    PublicSet("monk1", 556, 6, 2, "Robots, the first monk's problem."),
    PublicSet("monk2", 601, 6, 2, "Robots, the second monk's problem."),
    PublicSet("monk3", 554, 6, 2, "Robots, the third monk's problem (class noise)."),
    PublicSet("mushroom", 8124, 22, 2, "Mushrooms: edible or poisonous."),
    PublicSet("nursery", 12960, 8, 5, "Applications to a nursery school: priority."),
    PublicSet("sonar", 208, 60, 2, "Sonar echoes: mine or rock."),
    PublicSet("soybean_large", 307, 35, 19, "Soybean plants: which disease."),
    PublicSet(
        "soybean_large_683", 683, 35, 19, "Soybean plants, both parts: which disease."
    ),
    PublicSet("spambase", 4601, 57, 2, "Mails: wanted or not."),
    PublicSet("tae", 151, 5, 3, "Teaching assistants: how well rated."),
    PublicSet("tic_tac_toe", 958, 9, 2, "Final boards of noughts and crosses: x won."),
    PublicSet("titanic_2201", 2201, 3, 2, "People on the Titanic: survived or not."),
    PublicSet("wine", 178, 13, 3, "Wines: which grower."),
    # Medicine; the first six with prices of the tests.
    PublicSet("ann_thyroid", 7200, 21, 3, "Patients: thyroid normal or not."),
    PublicSet("bupa_turney", 345, 5, 2, "Blood tests: three drinks a day or more."),
    PublicSet("heart_cleveland", 303, 13, 2, "Patients: narrow heart vessels or not."),
    PublicSet("hepatitis", 155, 19, 2, "Patients with hepatitis: die or live."),
    PublicSet("pima", 768, 8, 2, "Pima women: diabetes within five years."),
    PublicSet(
        "nhanes1_mortality10y", 9917, 18, 2, "Survey: dead in ten years; few prices."
    ),
    PublicSet("bupa_selector", 345, 6, 2, "As bupa_turney, by a misused column."),
    PublicSet("chronic_kidney_disease", 400, 24, 2, "Patients: kidney disease or not."),
    PublicSet(
        "heart_cleveland_num",
        303,
        13,
        5,
        "As heart_cleveland, in five degrees.",
        priced_as="heart_cleveland",
    ),
    PublicSet("mammographic_masses", 961, 5, 2, "Masses in X-ray images: malignant."),
    PublicSet(
        "mammographic_masses_complete", 830, 5, 2, "The same, rows without a gap only."
    ),
    PublicSet("physionet2012", 12000, 41, 2, "Intensive care: dies there or not."),
    PublicSet("wdbc", 569, 30, 2, "Cells of a breast mass: malignant or benign."),
    # Known outcomes with unknown cells: every case is its own class.
    PublicSet("wiser", 255, 78, 255, "Chemicals by what they do: which one."),
    # Ranking and physics, with columns that are no tests.
    PublicSet(
        "miniboone_tiny", 5000, 50, 2, "Neutrinos: electron or muon.", ids=("part",)
    ),
    PublicSet(
        "mq2008", 15211, 46, 3, "Pages for a query: how relevant.", ids=("fold", "qid")
    ),
    PublicSet(
        "mslr_msn1_fold1_10k",
        10000,
        136,
        5,
        "Pages for a web query: how relevant.",
        ids=("part", "qid"),
    ),
    _aslib("asp_potassco", 1294, 138, 12),
    _aslib("bnsl_2016", 1179, 86, 8),
    _aslib("sat11_rand", 600, 115, 10),
    _aslib("sat12_indu", 1167, 115, 27),
    _aslib("sat20_main", 400, 108, 56),
    _streed("annealing", 898, 24, 5),
    _streed("breast", 277, 9, 2),
    _streed("car", 1728, 6, 4),
    _streed("diabetes", 768, 6, 2),
    _streed("flare", 323, 10, 3),
    _streed("glass", 214, 7, 6),
    _streed("heart", 297, 11, 2),
    _streed("hepatitis", 154, 16, 2),
    _streed("iris", 150, 4, 3),
    _streed("krk", 28056, 6, 18),
    _streed("mushroom", 8124, 21, 2),
    _streed("nursery", 6068, 8, 5),
    _streed("soybean", 562, 35, 15),
    _streed("tictactoe", 958, 9, 2),
    _streed("wine", 178, 13, 3),
)

# By name, in alphabetical order.
PUBLIC_SETS = {facts.name: facts for facts in sorted(_SETS, key=lambda s: s.name)}
