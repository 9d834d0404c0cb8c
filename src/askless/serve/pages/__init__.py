"""What people open in a browser: interviews, and the studio.

Pages are forms that work without scripts; the studio is the one that needs them.
"""
