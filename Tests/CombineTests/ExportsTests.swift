import BeagleNetCombine
import Testing

@Suite(.timeLimit(.minutes(1))) struct ExportsTests {
    @Test func oneImportProvidesPublishers() {
        var heard: [Int] = []
        _ = [1, 2].publisher.sink { heard.append($0) }
        #expect(heard == [1, 2])
    }
}
