"""Files of tests that can err: long, wide, sensitivity and specificity; and words."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askless.exceptions import AsklessError, DataFileError, InvalidTableError
from askless.problem import Costs, Table, read_table
from askless.problem.likelihood._words import DEFAULT_LEGEND, Legend

LONG = """case,test,outcome,probability
flu,fever,yes,0.8
flu,fever,no,0.2
cold,fever,yes,0.1
cold,fever,no,0.9
flu,doses,1,0.5
flu,doses,2,0.5
cold,doses,2,1
"""
WIDE = """case,fever,cough,x-ray [clear/dark/bright],prior,class
flu,0.8,often,0.2/0.3/0.5,1,viral
cold,10 %,0.6/0.4,clear,4,viral
strep,yes,?,0/0.5/0.5,2,bacterial
"""
ACCURACY = """test,condition,sensitivity,specificity,prior
swab,flu,0.9,95 %,0.1
swab,cold,0.2,0.95,0.3
x-ray,pneumonia,0.8,0.7,0.05
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="t.csv"):
        (tmp_path / name).write_text(text)
        return name

    return write


def chances(table, test):
    return table.possible.outcome_chances(table.test_names.index(test))[:-1]


def test_a_long_file_is_known_by_its_columns(write):
    table = read_table(write(LONG))
    assert table.test_names == ("fever", "doses")
    assert table.cases == table.classes[::-1] == ("flu", "cold")
    assert np.allclose(chances(table, "fever"), [[0.2, 0.9], [0.8, 0.1]])
    # Outcomes of a test that are all numbers are numbers.
    assert table.tests[1].outcomes == (1, 2)
    assert table.codes[1].tolist() == [3, 1]
    assert table.notes == []


def test_a_long_file_with_a_target_is_facts_unless_said_otherwise(write):
    assert not read_table(write(LONG), "case").has_likelihoods
    assert read_table(write(LONG), "case", likelihoods="long").has_likelihoods


def test_classes_and_priors_stand_in_further_columns(write):
    rows = [line.split(",") for line in LONG.split()]
    more = {"case": ["kind", "share"], "flu": ["1", "3"], "cold": ["2", "1"]}
    text = "\n".join(",".join(row + more[row[0]]) for row in rows)
    table = read_table(write(text), "kind", prior="share", likelihoods="long")
    assert table.case_classes == [1, 2]
    assert table.prior.tolist() == [0.75, 0.25]


def test_cases_can_stand_in_a_file_of_their_own(write):
    cases = write("case,prior,class\ncold,4,mild\nflu,1,bad\n", "cases.csv")
    table = read_table(write(LONG), cases=cases)
    assert table.cases == ("cold", "flu")
    assert table.case_classes == ["mild", "bad"]
    assert table.prior.tolist() == [0.8, 0.2]


def test_a_long_file_may_be_packed_or_parquet(write, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow_csv = pytest.importorskip("pyarrow.csv")
    plain = read_table(write(LONG))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(LONG.encode()))
    options = arrow_csv.ConvertOptions(column_types={"outcome": "string"})
    frame = arrow_csv.read_csv("t.csv", convert_options=options)
    parquet.write_table(frame, "t.parquet")
    for name in ("t.csv.gz", "t.parquet"):
        other = read_table(name)
        assert other.tests == plain.tests
        assert np.array_equal(other.likelihoods[0], plain.likelihoods[0])


def test_an_unknown_outcome_of_a_long_file_is_empty_or_marked(write):
    text = LONG + "new,fever,,\nnew,doses,?,\n"
    table = read_table(write(text), unknown="?")
    assert chances(table, "fever")[:, 2].tolist() == [0.5, 0.5]
    assert chances(table, "doses")[:, 2].tolist() == [0.5, 0.5]


def test_a_wide_file_has_numbers_words_and_facts(write):
    table = read_table(write(WIDE), likelihoods="wide", unknown="?")
    assert table.test_names == ("fever", "cough", "x-ray")
    assert table.cases == ("flu", "cold", "strep")
    assert table.case_classes == ["viral", "viral", "bacterial"]
    assert np.allclose(table.prior, [1 / 7, 4 / 7, 2 / 7])
    assert np.allclose(chances(table, "fever"), [[0.2, 0.9, 0], [0.8, 0.1, 1]])
    assert np.allclose(chances(table, "cough"), [[0.3, 0.4, 0.5], [0.7, 0.6, 0.5]])
    assert table.tests[2].outcomes == ("bright", "clear", "dark")
    assert np.allclose(chances(table, "x-ray")[:, 0], [0.5, 0.2, 0.3])
    assert np.allclose(chances(table, "x-ray")[:, 1:], [[0, 0.5], [1, 0], [0, 0.5]])
    assert table.codes[0].tolist() == [3, 3, 1]


def test_the_legend_is_shown_back(write):
    table = read_table(write(WIDE), likelihoods="wide", unknown="?")
    assert table.notes[0] == (
        "Words were read as probabilities: 'often' is 0.7. Give a legend if you mean "
        "other numbers."
    )
    own = write('often = 0.75\n"now and then" = 0.2\n', "words.toml")
    table = read_table(write(WIDE), likelihoods="wide", unknown="?", legend=own)
    assert table.notes[0] == "Words were read as probabilities: 'often' is 0.75."
    assert chances(table, "cough")[1, 0] == 0.75
    merged = table.merged()
    assert merged.notes[0] == table.notes[0]


@given(st.sampled_from(sorted(DEFAULT_LEGEND)), st.sampled_from([str.upper, str.title]))
def test_words_are_read_in_any_spelling(word, spell):
    legend = Legend()
    expected = DEFAULT_LEGEND[word]
    assert legend.look_up(spell(word).replace(" ", "_")) == expected
    assert f"{word!r} is {expected:g}" in legend.describe()


def test_common_words_are_in_order():
    ranks = [
        DEFAULT_LEGEND[w] for w in ("always", "often", "sometimes", "rarely", "never")
    ]
    assert ranks == sorted(ranks, reverse=True)
    # No word of everyday talk rules a case out.
    assert 0 < DEFAULT_LEGEND["never"] < DEFAULT_LEGEND["always"] < 1


def test_sensitivity_and_specificity_become_likelihoods(write):
    table = read_table(write(ACCURACY), likelihoods="accuracy")
    assert table.cases == ("flu", "cold", "pneumonia", "none of them")
    assert np.allclose(chances(table, "swab")[1], [0.9, 0.2, 0.05, 0.05])
    assert np.allclose(chances(table, "x-ray")[1], [0.3, 0.3, 0.8, 0.3])
    assert np.allclose(table.prior, [0.1, 0.3, 0.05, 0.55])


def test_a_file_of_cases_says_which_conditions_there_are(write):
    cases = write("case,prior\npneumonia,1\nflu,2\ncold,3\n", "cases.csv")
    text = ACCURACY.replace(",prior", "").replace(",0.1\n", "\n")
    text = text.replace(",0.3\n", "\n").replace(",0.05\n", "\n")
    table = read_table(write(text), likelihoods="accuracy", cases=cases)
    assert table.cases == ("pneumonia", "flu", "cold")
    assert np.allclose(chances(table, "swab")[1], [0.05, 0.9, 0.2])


def test_costs_and_repeats_go_with_a_file(write):
    costs = Costs({"fever": 3, "doses": 1}, mistakes=9)
    table = read_table(write(LONG), costs=costs, repeatable={"fever": 2})
    assert table.prices.full.tolist() == [3, 3, 1]
    less = read_table(write(LONG), costs=costs, drop=["doses"])
    assert less.test_names == ("fever",)
    assert less.prices.full.tolist() == [3]
    assert less.costs.mistakes == 9


def test_a_table_of_facts_that_look_like_probabilities_is_remarked(write):
    shares = write("case,x,y,c\na,0.8,1,k\nb,0.1,0,l\n")
    table = read_table(shares, "c", case="case")
    assert "read the table with likelihoods='wide'" in table.notes[0]
    for other in ("x,c\n1,k\n0,l\n", "x,c\n1.5,k\n0.5,l\n", "x,c\nno,k\n0.5,l\n"):
        assert read_table(write(other), "c").notes == []


def spoil(text, old, new):
    assert text.count(old) == 1
    return text.replace(old, new)


FIRST = "flu,fever,yes,0.8"
PROBABILITY = "column 'probability'"


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        (
            FIRST,
            "flu,fever,yes,0.7",
            rf"sum 0.9 for .* in line 2 of t.csv, {PROBABILITY}",
        ),
        (
            FIRST,
            "flu,fever,yes,-1",
            rf"Got '-1' of 'yes' .* line 2 of t.csv, {PROBABILITY}",
        ),
        (
            FIRST,
            "flu,fever,yes,",
            rf"Got none for 'yes' .* line 2 of t.csv, {PROBABILITY}",
        ),
        (
            FIRST,
            "flu,fever,no,0.8",
            rf"'no' of .* line 3 of t.csv, {PROBABILITY} twice",
        ),
        (FIRST, ",fever,yes,0.8", r"must name its case. Got none in line 2"),
        ("cold,doses,2,1\n", "", r"Got none for 'doses' of 'cold' in t.csv"),
        ("probability", "prob", r"the columns case, test, outcome, probability"),
    ],
)
def test_a_long_file_that_is_wrong_says_where(write, old, new, match):
    with pytest.raises(AsklessError, match=match):
        read_table(write(spoil(LONG, old, new)), likelihoods="long")


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "match"),
    [
        (
            "flu,0.8",
            "flu,1.8",
            2,
            "fever",
            r"from 0 to 1. Got '1.8' of 'fever' of 'flu'",
        ),
        ("10 %", "110 %", 3, "fever", r"Got '110 %' of 'fever' of 'cold'"),
        ("10 %", "1x %", 3, "fever", r"Got '1x %' of 'fever' of 'cold'"),
        ("10 %", "1_0", 3, "fever", r"Got '1_0 .an underscore.' of 'fever' of 'cold'"),
        ("0.6/0.4", "0.6/0.3", 3, "cough", r"Got the sum 0.9 for 'cough' of 'cold'"),
        ("0.6/0.4", "1/0/0", 3, "cough", r"for each of 'yes', 'no'. Got '1/0/0'"),
        ("0.6/0.4", "0.6/x", 3, "cough", r"from 0 to 1. Got 'x' of 'cough' of 'cold'"),
        ("0/0.5/0.5", "0.5", 4, "x-ray .*", r"'dark', 'bright'. Got '0.5' for 'x-ray'"),
        ("often", "oftn", 2, "cough", r"Got 'oftn' for 'cough' of 'flu'"),
        ("often", "", 2, "cough", r"Got none for 'cough' of 'flu'"),
        ("cold,", "flu,", 3, "case", r"a name of its own. Got 'flu'"),
        (",1,viral", ",,viral", 2, "prior", r"have a prior. Got none for 'flu'"),
        (",1,viral", ",x,viral", 2, "prior", r"A prior must be a number. Got 'x'"),
        (",1,viral", ",1,", 2, "class", r"have a class. Got none for 'flu'"),
    ],
)
def test_a_wide_file_that_is_wrong_says_where(write, old, new, line, column, match):
    match = f"{match}.* in line {line} of t.csv, column '{column}'"
    with pytest.raises(InvalidTableError, match=match):
        read_table(write(spoil(WIDE, old, new)), likelihoods="wide", unknown="?")


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("[clear/dark/bright]", "[clear/clear]", r"differ. Got 'x-ray .clear/clear.'"),
        ("x-ray [", "fever [", r"Tests must have different names"),
        (
            "often",
            "oftn",
            r"Did you mean 'often'\? The words are 'always', .* are 'yes'",
        ),
    ],
)
def test_a_wide_file_says_what_to_do(write, old, new, match):
    with pytest.raises(InvalidTableError, match=match):
        read_table(write(spoil(WIDE, old, new)), likelihoods="wide", unknown="?")


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "match"),
    [
        ("swab,cold", "swab,flu", 3, "test", r"'swab' for 'flu' again"),
        ("95 %", "0.9", 3, "specificity", r"Got 0.95 for 'swab'"),
        ("0.2,0.95", "2,0.95", 3, "sensitivity", r"Got '2' of 'swab' for 'cold'"),
        ("0.2,0.95", ",0.95", 3, "sensitivity", r"Got None of 'swab' for 'cold'"),
        ("swab,cold", ",cold", 3, "test", r"must name its test. Got none"),
        ("0.05\n", "a\n", 4, "prior", r"A prior must be a number. Got 'a'"),
    ],
)
def test_a_file_of_accuracies_that_is_wrong_says_where(
    write, old, new, line, column, match
):
    match = f"{match}.* in line {line} of t.csv, column '{column}'"
    with pytest.raises(InvalidTableError, match=match):
        read_table(write(spoil(ACCURACY, old, new)), likelihoods="accuracy")


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("0.05\n", "0.7\n", r"at most 1. Got 3 for 3 conditions, with the sum 1.1 in"),
        ("0.05\n", "\n", r"Got 2 for 3 conditions"),
        ("sensitivity", "sens", r"must have the columns test, condition, sensitivity"),
        (",prior", ",class", r"must stand in a file of cases. Got the column 'class'"),
    ],
)
def test_a_file_of_accuracies_says_what_to_do(write, old, new, match):
    with pytest.raises(AsklessError, match=match):
        read_table(write(spoil(ACCURACY, old, new)), likelihoods="accuracy")


def test_a_condition_has_one_prior(write):
    text = ACCURACY + "x-ray,flu,0.4,0.7,0.2\n"
    with pytest.raises(
        InvalidTableError, match=r"the same prior. Got 0.2 for 'flu' in line 5"
    ):
        read_table(write(text), likelihoods="accuracy")


@pytest.mark.parametrize(
    ("cases", "match"),
    [
        ("name\nflu\n", r"must have the columns case. Got 'name' in cases.csv"),
        ("case\nflu\nflu\n", r"listed once. Got 'flu' in line 3 of cases.csv"),
        ("case\nflu\n", r"Got 'cold' in t.csv, which is not in cases.csv"),
        (
            "case\nflu\ncold\nnew\n",
            r"must have likelihoods. Got none for 'new' in t.csv",
        ),
        ("case,prior\nflu,1\ncold,\n", r"Got none for 'cold' in line 3 of cases.csv"),
    ],
)
def test_a_file_of_cases_that_is_wrong_says_where(write, cases, match):
    write(cases, "cases.csv")
    with pytest.raises(AsklessError, match=match):
        read_table(write(LONG), cases="cases.csv")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, r"must have a target, the column of classes. Got none for t.csv"),
        ({"likelihoods": "broad"}, r"one of 'long', 'wide', 'accuracy'. Got 'broad'"),
        ({"target": "class", "legend": {"often": 1}}, r"legend must come with"),
        ({"target": "class", "repeatable": {"x": 1}}, r"repeatable must come with"),
        ({"target": "class", "cases": "c.csv"}, r"cases must come with"),
        ({"likelihoods": "wide", "levels": 3}, r"levels must come with"),
        ({"likelihoods": "wide", "target": "klass"}, r"Got 'klass'.*mean 'class'"),
        ({"likelihoods": "wide", "drop": ["cuogh"]}, r"dropped. Got 'cuogh'.*'cough'"),
        ({"likelihoods": "wide", "legend": {"often": 70}}, r"Got 70 for 'often'"),
        ({"likelihoods": "wide", "drop": ["case", "class"]}, r"name its cases or"),
    ],
)
def test_what_cannot_be_read_so_is_refused(write, options, match):
    with pytest.raises(InvalidTableError, match=match):
        read_table(write(WIDE.replace("?", "0.5")), **options)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("often", r"must be valid TOML. Got: .* in words.toml"),
        ("legend = 3", r"a number for each word. Got none in words.toml"),
        ("", r"a number for each word. Got none in words.toml"),
    ],
)
def test_a_legend_that_is_wrong_says_so(write, text, match):
    with pytest.raises(DataFileError, match=match):
        Legend(write(text, "words.toml"))
    with pytest.raises(DataFileError, match="must be readable"):
        Legend("no.toml")
    assert Legend(write("[legend]\noften = 1", "w.toml")).look_up("often") == 1


def test_a_wide_file_without_names_of_cases_has_classes(write):
    table = read_table(write("x,c\n0.1,k\n0.2,k\n"), "c", likelihoods="wide")
    assert table.cases == ("case 0", "case 1")
    assert table.case_classes == ["k", "k"]


@given(st.integers(0, 2**32 - 1))
def test_a_wide_file_says_what_a_mapping_says(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 101, (3, 2)) / 100
    text = "case,a,b\n" + "".join(
        f"c{i},{x:g},{100 * y:g} %\n" for i, (x, y) in enumerate(numbers)
    )
    path = tmp_path_factory.mktemp("wide") / "t.csv"
    path.write_text(text)
    table = read_table(path, likelihoods="wide")
    other = Table.from_likelihoods(
        numbers, tests=["a", "b"], cases=[f"c{i}" for i in range(3)]
    )
    for test in range(2):
        mine, theirs = (t.possible.outcome_chances(test) for t in (table, other))
        assert np.allclose(mine, theirs, rtol=0, atol=1e-15)
