// What a file's header says to whoever has no key: for looking, not for deciding.

public import Platform
public import SandboxModel

extension EncryptedFile {
    /// The protection class that the header names. It is not authenticated here; opening the file does that.
    /// - Returns: nil when there is no header to read.
    public static func protection(of backing: borrowing Descriptor) -> ProtectionClass? {
        let header = ContentPage()
        guard let got = try? backing.read(into: header.bytes, count: ContentPage.size, from: 0),
            got == ContentPage.size, header.isWellFormed(.header), header.version == ContentPage.formatVersion
        else { return nil }
        return ProtectionClass(rawValue: header.protectionRawValue)
    }
}
