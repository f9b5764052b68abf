#!/usr/bin/python3
"""Checks the metadata of a container: what it says of the sample app, and that it has a UUID.

    container_metadata.py PLIST"""

import os
import plistlib
import sys
import uuid

with open(sys.argv[1], "rb") as file:
    content = plistlib.load(file)
assert content["MCMMetadataIdentifier"] == "com.example.Notes", content
assert content["MCMMetadataContentClass"] == 2, content
assert content["MCMMetadataSchemaVersion"] == 1, content
uuid.UUID(content["MCMMetadataUUID"])
assert content["MCMMetadataVersion"] == 6 and content["MCMMetadataCreator"], content
assert content["MCMMetadataActiveDPClass"] == 0, content
assert content["MCMMetadataInfo"] == {"com.apple.MobileInstallation.ContentProtectionClass": 0}, content
identity = content["MCMMetadataUserIdentity"]
status = os.stat(os.path.dirname(os.path.abspath(sys.argv[1])) + "/Documents")
assert (identity["posixUID"], identity["posixGID"]) == (status.st_uid, status.st_gid), identity
assert (identity["type"], identity["version"]) == (0, 2), identity
uuid.UUID(identity["personaUniqueString"])
