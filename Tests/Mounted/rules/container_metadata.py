#!/usr/bin/python3
"""Checks the metadata of a container: what it says of the sample app, and that it has a UUID.

    container_metadata.py PLIST"""

import plistlib
import sys
import uuid

with open(sys.argv[1], "rb") as file:
    content = plistlib.load(file)
assert content["MCMMetadataIdentifier"] == "com.example.Notes", content
assert content["MCMMetadataContentClass"] == 2, content
assert content["MCMMetadataSchemaVersion"] == 1, content
uuid.UUID(content["MCMMetadataUUID"])
