"""The version of this package, which is that of the command."""

VERSION = "0.2.0"
