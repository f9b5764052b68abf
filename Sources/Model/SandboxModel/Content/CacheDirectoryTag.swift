// The file by which backup tools recognize a directory of caches (Cache Directory Tagging Specification).

/// `CACHEDIR.TAG`, which a mount can show in `Library/Caches` and `tmp`.
public enum CacheDirectoryTag {
    public static let name: FileName = "CACHEDIR.TAG"

    /// The beginning of the file, by which tools recognize it: the MD5 of `.IsCacheDirectory`.
    public static let signature = "Signature: 8a477f597d28d172789f06886806bc55"

    public static let content: [UInt8] = Array(
        """
        \(signature)
        # This file marks a directory of caches or temporary files, which no backup of the app has.
        # The mount shows it (appcontainer mount --cachedir-tag); it is not in the app's container.
        # About cache directory tags see https://bford.info/cachedir/

        """.utf8)
}
