import BeagleNetCombine
import Testing

@Suite(.timeLimit(.minutes(5))) struct ExportsTests {
    @Test func oneImportProvidesPublishers() {
        var received: [Int] = []
        _ = [1, 2].publisher.sink { received.append($0) }
        #expect(received == [1, 2])
    }
}
