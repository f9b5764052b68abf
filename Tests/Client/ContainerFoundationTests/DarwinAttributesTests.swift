// Tests of Darwin's calls of extended attributes, off a mount.

import ContainerFoundation
import Testing

@Suite struct DarwinAttributesTests {
    private let place: Workplace
    private let file: String

    init() throws {
        place = try Workplace()
        file = try place.file("file").path
    }

    /// The value of `errno` after a call that fails; 0 if it succeeds.
    private func failure(_ call: () -> Int) -> Int32 {
        errno = 0
        return call() == -1 ? errno : 0
    }

    @Test func `a name of Darwin is one of users on Linux`() throws {
        #expect(unsafe setxattr(file, "com.example.colour", "red", 3, 0, XATTR_CREATE) == 0)
        #expect(try attributes(of: place("file")) == ["user.com.example.colour"])
        var value = [UInt8](repeating: 0, count: 8)
        #expect(unsafe getxattr(file, "com.example.colour", &value, 8, 0, 0) == 3)
        #expect(value.prefix(3) == Array("red".utf8)[...])
        var names = [CChar](repeating: 0, count: 64)
        #expect(unsafe listxattr(file, &names, 64, 0) == 19)
        #expect(names.prefix(19).map { UInt8($0) } == Array("com.example.colour".utf8) + [0])
        #expect(unsafe removexattr(file, "com.example.colour", 0) == 0)
        #expect(try attributes(of: place("file")) == [])
    }

    @Test func `forms of a mount that Darwin does not have are not listed`() throws {
        for name in ["appcontainer.protection", "xdg.robots.backup", "com.apple.TextEncoding"] {
            #expect(unsafe setxattr(file, name, "x", 1, 0, 0) == 0)
        }
        #expect(unsafe listxattr(file, nil, 0, XATTR_NOFOLLOW) == "com.apple.TextEncoding".utf8.count + 1)
    }

    @Test func `a call that cannot be fails as on Darwin`() {
        let long = String(repeating: "x", count: 128)
        #expect(failure { unsafe getxattr(file, "none", nil, 0, 0, 0) } == ENOATTR)
        #expect(failure { Int(unsafe setxattr(file, "a", "x", 1, 0, XATTR_REPLACE)) } == ENOATTR)
        #expect(failure { Int(unsafe setxattr(file, "a", "x", 1, 0, XATTR_REPLACE | XATTR_CREATE)) } == EINVAL)
        #expect(failure { Int(unsafe setxattr(file, "a", "x", 1, 1, 0)) } == EINVAL)
        #expect(failure { Int(unsafe setxattr(file, "", "x", 1, 0, 0)) } == EINVAL)
        #expect(failure { Int(unsafe setxattr(file, "a", "x", 1, 0, 0x40)) } == EINVAL)
        #expect(failure { Int(unsafe setxattr(file, long, "x", 1, 0, 0)) } == ENAMETOOLONG)
        #expect(failure { Int(unsafe setxattr(nil, "a", "x", 1, 0, 0)) } == EFAULT)
        #expect(failure { Int(unsafe setxattr(file, nil, "x", 1, 0, 0)) } == EFAULT)
        #expect(failure { Int(unsafe removexattr(file, "none", 0)) } == ENOATTR)
        #expect(failure { flistxattr(-1, nil, 0, 0) } == EBADF)
        #expect(failure { flistxattr(0, nil, 0, XATTR_NOFOLLOW) } == EINVAL)
        #expect(unsafe setxattr(file, "a", "x", 1, 0, 0) == 0)
        #expect(failure { unsafe getxattr(file, "a", nil, 0, 0, XATTR_CREATE) } == EINVAL)
        var name: CChar = 0
        #expect(failure { unsafe listxattr(file, &name, 1, 0) } == ERANGE)
    }

    @Test func `the mode bits decide where there is no sandbox`() throws {
        #expect(FileManager.default.isWritableFile(atPath: file))
        #expect(!FileManager.default.isWritableFile(atPath: place("none").path))
    }
}
