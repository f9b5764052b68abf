// Archives of apps: what is unpacked, and what is refused.

import BundleArchive
import Testing

@Suite struct ArchiveTests {}
