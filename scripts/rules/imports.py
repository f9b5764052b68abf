"""Rules of imports, and of the places of Foundation, of memory that is touched by hand, and of watched descriptors."""

import re

# From this floor on, any Foundation may be used.
FIRST_FLOOR_WITH_FOUNDATION = 6

# Below it: property lists and records in JSON only, and only the part without ICU. Module/file.
FOUNDATION_ESSENTIALS = {
    "PropertyLists/PropertyListCoding",
    # The types of keys in property lists.
    "BundleSeal/CodeDirectoryHashes", "BundleSeal/CodeResources+Coding",
    "BundleSeal/ProvisioningProfile+Coding",
    "FinderBackup/InformationLists", "FinderBackup/ManifestList",
    # JSON.
    "BackingStore/DeviceRecords", "DeviceTemplate/OCIDocuments", "TarBackup/BackupDescription",
}

# Where memory is touched by hand: the kernel's side, system calls, and what calls libcrypto or holds secrets.
# Everything else is proved by the compiler.
UNSAFE_MODULES = {"FuseBridge", "Platform"}
UNSAFE = {
    f"DataProtection/{name}" for name in (
        "Agreement", "BackupCipher", "BlockCipher", "Derivation", "FileKey", "GCMContext", "KeyWrap",
        "SecretMemory", "UIDKey")
} | {
    # libcrypto.
    "BundleSeal/CMSSignature", "BundleSeal/Certificates", "BundleSeal/SigningIdentity", "HashFunctions/MessageDigest",
    # libarchive.
    "BundleArchive/ArchiveReader", "TarFormat/CallbackInput", "TarFormat/CallbackOutput", "TarFormat/DecompressedInput",
    "TarFormat/TarReader", "TarFormat/TarWriter", "TarFormat/ZstandardOutput",
    # SQLite.
    "FinderBackup/Database",
    # Calls that have pointers as their parameters on Apple's systems.
    "ContainerFoundation/DarwinAttributes", "ContainerFoundation/NSFileCoordinator+Items",
    "ContainerFoundation/NSFileCoordinator",
}

IMPORT = re.compile(
    r"\s*(?:@\w+(?:\(\w+\))?\s+)*(?:public |package |internal |fileprivate |private )?import "
    r"(?:struct |class |enum |protocol |func |typealias |let |var )?(\w+)")
# Elsewhere libdispatch would be given descriptors that hang up, at which it may end the process.
DESCRIPTOR_SOURCE = re.compile(r"\bmake(?:Read|Write)Source\(|\bDispatchIO\(")
DESCRIPTOR_SOURCE_PLACE = "Platform/ReadinessWatch"
UNSAFE_CODE = re.compile(r"(?<!\.)\bunsafe\b|@unsafe\b|\bUnsafe\w*Pointer\b")


def imported(file):
    """(line number, module) of each import."""
    for number, line in enumerate(file.code_lines, 1):
        if found := IMPORT.match(line):
            yield number, found[1]


def place(file, target):
    return f"{target.name}/{file.path.stem}"


def with_floors(tree):
    """(file, its target) of each file of a module that has a floor."""
    for file in tree.swift("Sources"):
        target = tree.target_of(file)
        if target is not None and target.floor is not None:
            yield file, target


def every_module_is_declared(tree):
    if len(tree.targets) < 2:
        yield f"{tree.manifest.name}:1: cannot be understood: {len(tree.targets)} targets found"
    for file in tree.swift("Sources"):
        target = tree.target_of(file)
        if target is None or target.floor is None:
            yield f"{file.name}:1: its module is not in Package.swift under a floor"


def no_import_points_up(tree):
    for file, target in with_floors(tree):
        for number, name in imported(file):
            other = tree.targets.get(name)
            if other is None or name in target.uses:
                continue
            up = "points up" if (other.floor or 0) > target.floor else "is not among the module's uses in Package.swift"
            yield f"{file.name}:{number}: {target.name} (floor {target.floor}) imports {name}: {up}"


def every_use_is_imported(tree):
    """A program is used by being built: no file imports it."""
    for target in tree.targets.values():
        names = {name for file in tree.swift(target.folder) for _, name in imported(file)}
        for name, line in target.uses.items():
            is_program = name in tree.targets and tree.targets[name].kind == "executableTarget"
            if name not in names and not is_program:
                yield f"{tree.manifest.name}:{line}: no file of {target.name} imports {name}"


def foundation_has_its_places(tree):
    for file, target in with_floors(tree):
        for number, name in imported(file):
            if not name.startswith("Foundation") or target.floor >= FIRST_FLOOR_WITH_FOUNDATION:
                continue
            if name != "FoundationEssentials" or place(file, target) not in FOUNDATION_ESSENTIALS:
                yield (f"{file.name}:{number}: {name} on floor {target.floor}; allowed is FoundationEssentials "
                       f"in {', '.join(sorted(FOUNDATION_ESSENTIALS))}")


def unsafe_code_has_its_places(tree):
    for file, target in with_floors(tree):
        if target.name in UNSAFE_MODULES or place(file, target) in UNSAFE:
            continue
        for number, line in enumerate(file.code_lines, 1):
            if UNSAFE_CODE.search(line) and not IMPORT.match(line):
                yield f"{file.name}:{number}: unsafe code does not belong here: give Platform a function for it"


def descriptors_are_watched_in_one_place(tree):
    for file in tree.swift("Sources"):
        target = tree.target_of(file)
        if target is None or place(file, target) == DESCRIPTOR_SOURCE_PLACE:
            continue
        for number, line in enumerate(file.code_lines, 1):
            if DESCRIPTOR_SOURCE.search(line):
                yield f"{file.name}:{number}: a dispatch source of a descriptor: use ReadinessWatch"
