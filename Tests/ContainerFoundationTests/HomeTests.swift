// Where code finds its directories.

import ContainerFoundation
import Testing

@Suite struct HomeTests {
    @Test func `a task's home`() async throws {
        try ContainerHome.$current.withValue("/home/of/app") { #expect(NSHomeDirectory() == "/home/of/app") }
    }
}
