// The decisions of a device that disobeys.

import BackingStore
import Foundation
import SandboxModel
import TestSupport
import Testing

@Suite struct CapriceTests {
    private let app = ContainerIdentifier("com.example.Notes")!

    private func decisions(
        _ deed: Caprice.Deed, _ capriciousness: Capriciousness, of owner: ContainerIdentifier? = nil
    ) -> [Bool] {
        let caprice = Caprice(capriciousness)
        return (0..<4000).map { caprice.does(deed, to: ["Documents", FileName("\($0)")!], of: owner ?? app) }
    }

    private func capriciousness(_ seed: String, turns: Int = 0) -> Capriciousness {
        var capriciousness = Capriciousness(seed: seed)
        for _ in 0..<turns {
            capriciousness.endTurn(of: .backedUp)
            capriciousness.endTurn(of: .spared)
        }
        return capriciousness
    }

    // S-CAPRICE-1
    @Test(arguments: Caprice.Deed.allCases)
    func `a decision follows from seed, turn, container and path, and from nothing else`(deed: Caprice.Deed) {
        let first = decisions(deed, capriciousness("a"))
        #expect(decisions(deed, capriciousness("a")) == first)
        #expect(decisions(deed, capriciousness("b")) != first)
        #expect(decisions(deed, capriciousness("a", turns: 1)) != first)
        #expect(decisions(deed, capriciousness("a"), of: ContainerIdentifier("group.a")!) != first)
        for other in Caprice.Deed.allCases where other != deed {
            #expect(decisions(other, capriciousness("a")) != first)
        }
        // One in four, or in eight.
        let share = deed == .removedCaches ? 500 : 1000
        #expect(abs(first.count { $0 } - share) < 150)
    }

    @Test func `backups and purges have turns of their own`() {
        var capriciousness = Capriciousness(seed: "a")
        let (backedUp, spared) = (decisions(.backedUp, capriciousness), decisions(.spared, capriciousness))
        capriciousness.endTurn(of: .removedCaches)
        #expect(decisions(.backedUp, capriciousness) == backedUp && decisions(.spared, capriciousness) != spared)
    }

    @Test func `names are told from each other, however they are joined`() {
        let caprice = Caprice(Capriciousness(seed: "a"))
        let joined = (0..<400).map { caprice.does(.backedUp, to: ["a", FileName("b\($0)")!], of: app) }
        #expect(joined != (0..<400).map { caprice.does(.backedUp, to: [FileName("ab\($0)")!], of: app) })
    }
}
