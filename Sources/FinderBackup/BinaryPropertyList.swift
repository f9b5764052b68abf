// Apple's binary property lists: a list of objects, a table of where each begins, and a trailer.
//
// Foundation reads them as well, but knows the indices of keyed archives only inside NSKeyedArchiver, and a backup has a
// list for each file.

enum BinaryPropertyList {
    static let magic = Array("bplist00".utf8)

    static func decode(_ bytes: [UInt8]) -> PropertyList? {
        var reader = BinaryPropertyListReader(bytes)
        return reader?.decode()
    }

    static func encode(_ list: PropertyList) -> [UInt8] {
        var writer = BinaryPropertyListWriter()
        return writer.encode(list)
    }
}
