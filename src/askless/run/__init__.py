"""Interview a person or a program about one case, and keep a log that replays.

Everything here works from a policy alone. This package does not know how a policy was
found or how a question is shown.
"""

from askless.run._interview import Interview
from askless.run._journal import Journal, replay_log
from askless.run._reply import Reply, read_reply

__all__ = ["Interview", "Journal", "Reply", "read_reply", "replay_log"]
