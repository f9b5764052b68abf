// The options of coordinated reading and writing, with Apple's values.

extension NSFileCoordinator {
    public struct ReadingOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Presenters are not asked to save their changes.
        public static let withoutChanges = ReadingOptions(rawValue: 1 << 0)
        /// The accessor gets the URL of the item that a symbolic link leads to.
        public static let resolvesSymbolicLink = ReadingOptions(rawValue: 1 << 1)
        /// Has no effect here: every item is available.
        public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 1 << 2)
        /// The accessor gets the URL of a copy, which is removed when it returns; others need not wait for the upload.
        /// Only for files: a directory fails with `featureUnsupported`.
        public static let forUploading = ReadingOptions(rawValue: 1 << 3)
    }

    public struct WritingOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// The item is deleted. Presenters prepare for it.
        public static let forDeleting = WritingOptions(rawValue: 1 << 0)
        /// The item is moved or renamed.
        public static let forMoving = WritingOptions(rawValue: 1 << 1)
        /// Presenters are asked to save their changes first.
        public static let forMerging = WritingOptions(rawValue: 1 << 2)
        /// Another item takes the item's place. Presenters prepare for a deletion.
        public static let forReplacing = WritingOptions(rawValue: 1 << 3)
        /// Content stays: presenters need not give up the item.
        public static let contentIndependentMetadataOnly = WritingOptions(rawValue: 1 << 4)
    }
}
