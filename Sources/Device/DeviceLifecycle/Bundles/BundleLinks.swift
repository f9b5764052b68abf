// The targets of a bundle's symbolic links.

import SandboxModel

/// Where a bundle's symbolic links lead, by the bundle's own names alone.
enum BundleLinks {
    /// Links that are followed on the way to one place, as the kernel's own limit (path_resolution(7)).
    private static let limit = 40

    /// Whether following a link stays in the bundle all the way. A link to nothing, or to itself, stays.
    ///
    /// - Parameter links: every symbolic link of the bundle and its target.
    static func staysInside(_ link: [FileName], _ links: [[FileName]: [UInt8]]) -> Bool {
        guard let target = links[link] else { return true }
        var place = Array(link.dropLast())
        // Targets to resolve, the innermost link's last; `steps` are the names still to go, the next one last.
        var remaining = [target]
        var steps: [[UInt8]] = []
        var followed = 1
        while let text = remaining.popLast() {
            // An absolute target leads to the host's root.
            if text.first == UInt8(ascii: "/") { return false }
            steps.append(contentsOf: text.split(separator: UInt8(ascii: "/")).map(Array.init).reversed())
            while let step = steps.popLast() {
                if step == [UInt8(ascii: ".")] { continue }
                if step == Array("..".utf8) {
                    guard place.popLast() != nil else { return false }
                    continue
                }
                // A name that cannot exist: the link leads to nothing.
                guard let name = FileName(step) else { return true }
                place.append(name)
                if let next = links[place] {
                    followed += 1
                    guard followed <= limit else { return true }
                    place.removeLast()
                    remaining.append(next)
                    break
                }
            }
        }
        return true
    }
}
