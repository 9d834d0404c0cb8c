"""Every text of the pages, in each language. A new language is one more column here."""

from __future__ import annotations

from unicodedata import bidirectional

__all__ = ["LANGUAGES", "MARKS", "choose_language", "text"]

LANGUAGES = {"en": "English", "de": "Deutsch"}
# What the marks of a number become, from those of English.
MARKS = {"en": {}, "de": str.maketrans(",.", ".,")}

_TEXTS: dict[str, tuple[str, str]] = {
    "title": ("Askless", "Askless"),
    "tagline": ("Ask less, decide right.", "Weniger fragen, richtig entscheiden."),
    "policies": ("What is it about?", "Worum geht es?"),
    "no policies": ("No policy is served here yet.", "Hier liegt noch nichts bereit."),
    "begin": ("Begin", "Beginnen"),
    "tests": ("{n} tests", "{n} Tests"),
    "decisions": ("{n} possible decisions", "{n} mögliche Ergebnisse"),
    "all costs": ("All tests together cost {cost}", "Alle Tests kosten {cost}"),
    "question": ("Question {n}", "Frage {n}"),
    "price": ("costs {price}", "kostet {price}"),
    "price at most": ("costs {price} to {most}", "kostet {price} bis {most}"),
    "free": ("costs nothing", "kostet nichts"),
    "together": ("Bought together with it: {names}.", "Zugleich gekauft: {names}."),
    "answer": ("Answer", "Antworten"),
    "number": ("A number", "Eine Zahl"),
    "number in": ("A number, in {unit}", "Eine Zahl, in {unit}"),
    "compared": ("Compared with {low} to {high}.", "Verglichen mit {low} bis {high}."),
    "unsure": ("Don't know", "Weiß nicht"),
    "unsure help": (
        "The test was run, and what it shows is not clear.",
        "Der Test wurde gemacht, das Ergebnis ist unklar.",
    ),
    "skip": ("Skip", "Auslassen"),
    "skip help": (
        "Go on without this test. Nothing is paid.",
        "Ohne diesen Test weiter. Es kostet nichts.",
    ),
    "back": ("Back", "Zurück"),
    "why": ("Why this question?", "Warum diese Frage?"),
    "reason": (
        "This test {price}. {n} decisions are still possible; the likeliest is "
        "{decision} ({share}).",
        "Dieser Test {price}. Noch sind {n} Ergebnisse möglich; am wahrscheinlichsten "
        "ist {decision} ({share}).",
    ),
    "reason number": ("This test {price}.", "Dieser Test {price}."),
    "what if": ("What if?", "Was wäre wenn?"),
    "if": ("If it shows", "Wenn er zeigt"),
    "share": ("Share", "Anteil"),
    "what then": ("Then", "Dann"),
    "ways help": ("What do these mean?", "Was bedeutet das?"),
    "then": ("{test} is asked next", "wird nach {test} gefragt"),
    "taken as": (
        "No known case shows this here; it is taken as {outcome}:",
        "Kein bekannter Fall zeigt dies hier; es gilt als {outcome}:",
    ),
    "then decided": ("decided: {decision}", "entschieden: {decision}"),
    "spent": ("Spent", "Ausgegeben"),
    "saved": ("Saved", "Gespart"),
    "left": ("At most {cost} more to pay.", "Höchstens noch {cost} zu zahlen."),
    "standing": ("Where it stands", "Der Stand"),
    "likely": ("Likely so far", "Bisher wahrscheinlich"),
    "others": ("{n} others", "{n} andere"),
    "decision": ("Decision", "Ergebnis"),
    "certain": (
        "No other decision fits the answers.",
        "Kein anderes Ergebnis passt zu den Antworten.",
    ),
    "certainty": ("{share} of the cases like this", "{share} der Fälle wie dieser"),
    "contradiction": (
        "No known case shows all of these answers. Look again at: {names}.",
        "Kein bekannter Fall zeigt alle diese Antworten. Bitte prüfen: {names}.",
    ),
    "stop none left": (
        "No test is left. To decide so costs {cost} in mistakes on average.",
        "Es ist kein Test mehr übrig. So zu entscheiden kostet im Mittel {cost} an "
        "Fehlern.",
    ),
    "stop price": (
        "No test left is worth its price. To decide so costs {cost} in mistakes on "
        "average.",
        "Kein Test ist noch seinen Preis wert. So zu entscheiden kostet im Mittel "
        "{cost} an Fehlern.",
    ),
    "stop policy": (
        "No further test is foreseen here. To decide so costs {cost} in mistakes on "
        "average.",
        "Hier ist kein weiterer Test vorgesehen. So zu entscheiden kostet im Mittel "
        "{cost} an Fehlern.",
    ),
    "unlikely": (
        "These answers are unlikely whatever is true. A case of {best}, which fits "
        "them best, gives them in {chance}, where {usual} is usual; one in {odd} cases "
        "is as odd. An answer may be wrong, or the table may lack the case.",
        "Diese Antworten sind unwahrscheinlich, was immer zutrifft. Ein Fall von "
        "{best}, der am besten passt, gibt sie in {chance}, wo {usual} üblich sind; "
        "einer von {odd} Fällen ist so ungewöhnlich. Eine Antwort mag falsch sein, "
        "oder der Fall fehlt in der Tabelle.",
    ),
    "very many": ("very many", "sehr vielen"),
    "likely then": ("How likely each decision is", "Wie wahrscheinlich was ist"),
    "path": ("What was asked", "Was gefragt wurde"),
    "test": ("Test", "Test"),
    "shown": ("It showed", "Er zeigte"),
    "missing": ("nothing", "nichts"),
    "paid": ("Paid", "Bezahlt"),
    "not answered": ("not answered", "nicht beantwortet"),
    "again": ("Begin again", "Von vorn beginnen"),
    "log": ("Log", "Protokoll"),
    "print": ("Print", "Drucken"),
    "language": ("Language", "Sprache"),
    "error": ("That did not work", "Das ging nicht"),
    "stale": (
        "This page was not the newest any more. Here is where it stands.",
        "Diese Seite war nicht mehr die neueste. Hier ist der Stand.",
    ),
    "no answer": (
        "Choose an answer, or say that you don't know.",
        "Bitte antworten, oder sagen, dass es nicht zu wissen ist.",
    ),
    "not a number": (
        "A number is needed here, such as {example}. Got: {typed}",
        "Hier braucht es eine Zahl, etwa {example}. Es kam: {typed}",
    ),
    "to start": ("To the start page", "Zur Startseite"),
    "failed": (
        "The service could not answer. Try again; if it stays, tell whoever runs it.",
        "Der Dienst konnte nicht antworten. Bitte noch einmal versuchen; wenn es "
        "bleibt, denen sagen, die ihn betreiben.",
    ),
    "not found": ("There is no such page.", "Diese Seite gibt es nicht."),
    "key": ("Key", "Schlüssel"),
    "enter": ("Enter", "Eintreten"),
    "wrong key": ("This key is not known.", "Dieser Schlüssel ist nicht bekannt."),
    "studio": ("Studio", "Studio"),
    "to studio": ("Make a policy in the studio", "Im Studio eine eigene machen"),
    "studio lead": (
        "Type or drop a table: a row for each case, a column for each test, and one "
        "for what is to be decided. Nothing is kept unless you save it.",
        "Eine Tabelle eintippen oder hierher ziehen: eine Zeile je Fall, eine Spalte "
        "je Test und eine für das Ergebnis. Behalten wird nur, was gespeichert wird.",
    ),
    "needs scripts": (
        "The studio needs scripts. Without them: askless solve table.csv.",
        "Das Studio braucht Skripte. Ohne sie: askless solve tabelle.csv.",
    ),
    "table": ("Table, as CSV", "Tabelle, als CSV"),
    "costs": ("Costs, as CSV: test,cost", "Kosten, als CSV: test,cost"),
    "table file": ("Table from a file", "Tabelle aus einer Datei"),
    "costs file": ("Costs from a file", "Kosten aus einer Datei"),
    "target": ("What is to be decided", "Was entschieden wird"),
    "objective": ("What to keep low", "Was niedrig sein soll"),
    "objective expected": ("the expected cost", "die erwarteten Kosten"),
    "objective worst": ("the worst cost", "die höchsten Kosten"),
    "prices": ("Prices", "Preise"),
    "weights": ("How frequent", "Wie häufig"),
    "as read": ("The table as it was read", "Die Tabelle, wie sie gelesen wurde"),
    "wrong": ("What is wrong", "Was nicht stimmt"),
    "where": ("line {line}, column {column}", "Zeile {line}, Spalte {column}"),
    "where line": ("line {line}", "Zeile {line}"),
    "sheet table": ("Table", "Tabelle"),
    "sheet costs": ("Costs", "Kosten"),
    "bad line": ("this line cannot be read", "diese Zeile ist nicht lesbar"),
    "no name": ("a column needs a name", "eine Spalte braucht einen Namen"),
    "same name": ("two columns have this name", "zwei Spalten heißen so"),
    "too many columns": ("too many columns", "zu viele Spalten"),
    "too few columns": (
        "there must be a test and a class, separated by a comma",
        "es braucht einen Test und ein Ergebnis, durch ein Komma getrennt",
    ),
    "too many rows": ("too many rows", "zu viele Zeilen"),
    "no rows": ("there must be a row for each case", "je Fall braucht es eine Zeile"),
    "wrong length": (
        "as many cells as the first line has",
        "so viele Zellen wie in der ersten Zeile",
    ),
    "no class": ("a class must be named", "das Ergebnis fehlt"),
    "bad prior": ("a number, at least 0", "eine Zahl, mindestens 0"),
    "bad price": ("a number, at least 0", "eine Zahl, mindestens 0"),
    "no such test": ("no column has this name", "keine Spalte heißt so"),
    "bad mark": ("0 or 1", "0 oder 1"),
    "test again": ("each test once", "jeder Test nur einmal"),
    "too dear together": (
        "at most what it costs alone",
        "höchstens so viel wie allein",
    ),
    "no test and cost": (
        "the first line must have test and cost",
        "die erste Zeile braucht test und cost",
    ),
    "result": ("The policy", "Das Vorgehen"),
    "expected": ("Expected cost", "Erwartete Kosten"),
    "worst": ("Worst cost", "Höchste Kosten"),
    "bound": ("No policy costs less than", "Kein Vorgehen kostet weniger als"),
    "searching": ("Searching …", "Sucht …"),
    "proved": ("Proved: nothing is cheaper.", "Bewiesen: nichts ist billiger."),
    "not proved": ("The best that was found.", "Das beste, das gefunden wurde."),
    "stopped": (
        "Stopped. This is the policy that was found first.",
        "Angehalten. Dies ist das Vorgehen, das zuerst gefunden wurde.",
    ),
    "stop": ("Stop", "Anhalten"),
    "over time": (
        "Cost of the best policy and lower bound over time",
        "Kosten des besten Vorgehens und untere Schranke über die Zeit",
    ),
    "best line": ("Best policy so far", "Bestes Vorgehen bisher"),
    "bound line": ("Proved bound", "Bewiesene Schranke"),
    "flowchart": ("Flowchart", "Ablauf"),
    "as text": ("The flowchart as text", "Der Ablauf als Text"),
    "too large": ("Too large to be drawn.", "Zu groß für ein Bild."),
    "name": ("Name", "Name"),
    "save": ("Save and serve", "Speichern und anbieten"),
    "download": ("Download the file", "Datei herunterladen"),
    "saved as": ("Saved. Begin its interview", "Gespeichert. Zur Befragung"),
}


def choose_language(asked: str | None, accepted: str) -> str:
    """Return the language to use: the one asked for, or the first that is accepted.

    Examples
    --------
    >>> choose_language(None, "fr, de;q=0.8"), choose_language("en", "de")
    ('de', 'en')
    """
    if asked in LANGUAGES:
        return asked
    for part in accepted.split(","):
        language = part.split(";")[0].strip().split("-")[0].lower()
        if language in LANGUAGES:
            return language
    return "en"


def text(language: str, name: str, **values: object) -> str:
    """Return a text in a language.

    Examples
    --------
    >>> text("de", "price", price="3")
    'kostet 3'
    """
    column = list(LANGUAGES).index(language)
    apart = {gap: _set_apart(str(value)) for gap, value in values.items()}
    return _TEXTS[name][column].format(**apart)


def _set_apart(value: str) -> str:
    """Return a value that does not turn the text around it, if it is read leftwards."""
    if any(bidirectional(sign) in ("R", "AL") for sign in value):
        return f"\u2068{value}\u2069"
    return value
