"""Run a policy on one case or many: sessions, buying from code, interviews, logs.

Everything here works from a policy alone. This package does not know how a policy was
found or how a question is shown.
"""

from askless.run._ahead import Branch
from askless.run._decide_rows import RowDecisions, decide_rows
from askless.run._describe import describe
from askless.run._drive import run_case, run_case_async
from askless.run._drive_many import run_cases, run_cases_async
from askless.run._evidence import Oddity
from askless.run._interview import Interview
from askless.run._journal import Journal, Repair, repair_log, replay_log
from askless.run._purchase import SKIP, CaseResult, FetchFailure, Terms
from askless.run._reply import Reply, read_reply
from askless.run._report import RunReport
from askless.run._session import Session, Step

__all__ = [
    "Branch",
    "CaseResult",
    "FetchFailure",
    "Interview",
    "Journal",
    "Oddity",
    "Repair",
    "Reply",
    "RowDecisions",
    "RunReport",
    "SKIP",
    "Session",
    "Step",
    "Terms",
    "decide_rows",
    "describe",
    "read_reply",
    "repair_log",
    "replay_log",
    "run_case",
    "run_case_async",
    "run_cases",
    "run_cases_async",
]
