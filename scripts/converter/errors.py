"""What a conversion ends with when the folder or the file is not what it must be."""


class Refused(Exception):
    """The message says what is wrong, what was expected and what to do."""
