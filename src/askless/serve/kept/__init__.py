"""What a service keeps: policies by version, sessions and their events, keys.

Nothing here knows how a request looks.
"""
