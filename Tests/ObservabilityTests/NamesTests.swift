import BeagleNet
import CoreMetrics
import MetricsTestKit
import Testing

@testable import BeagleNetObservability

/// The names and values in spans and measurements.
struct NamesTests {
    @Test(arguments: [
        ("127.0.0.1:443", "127.0.0.1", 443), ("[::1]:8080", "::1", 8080),
    ]) func peerConsistsOfAddressAndPort(_ text: String, _ address: String, _ port: Int) {
        var metrics = TransferMetrics()
        metrics.remoteAddress = text
        #expect(metrics.peer?.address == address && metrics.peer?.port == port)
    }

    @Test(arguments: ["", "localhost", "[::1]"]) func invalidPeerIsIgnored(_ text: String) {
        var metrics = TransferMetrics()
        metrics.remoteAddress = text
        #expect(metrics.peer == nil)
    }

    private static let protocolVersionIsReadFromItsNameArguments: [(String, String?)] = [
        ("HTTP/1.1", "1.1"), ("HTTP/2", "2"), ("HTTP/3", "3"), ("", nil),
    ]

    @Test(arguments: Self.protocolVersionIsReadFromItsNameArguments)
    func protocolVersionIsReadFromItsName(_ name: String, _ version: String?) {
        var metrics = TransferMetrics()
        metrics.protocolName = name
        #expect(metrics.protocolVersion == version)
    }

    @Test(arguments: [("example.com", "example.com"), ("[::1]", "::1")])
    func addressHasNoBrackets(_ host: String, _ address: String) {
        #expect(Origin(scheme: "https", host: host).address == address)
    }

    @Test func statusesAndErrorTypesBeyondTheLimitAreGrouped() {
        let metrics = TestMetrics()
        let meters = Meters(metrics, servers: 1, templates: 1)
        let target = Meters.Target(method: "GET", address: "a", port: "1", template: "")
        for status in 200...999 { _ = meters.responses(to: target, status: status) }
        for number in 1...300 { _ = meters.responses(to: target, status: nil, errorType: "e\(number)") }
        let durations = metrics.timers(label: "http.client.request.duration")
        func values(of name: String) -> Set<String> {
            Set(durations.flatMap { $0.dimensions.filter { $0.0 == name }.map(\.1) })
        }
        let statuses = values(of: "http.response.status_code")
        #expect(statuses.isSuperset(of: ["200", "404", "503", "_OTHER"]) && statuses.count < 100)
        #expect(values(of: "error.type").count < 200)
    }

    @Test func distinctTargetsAreLimited() {
        let metrics = TestMetrics()
        let meters = Meters(metrics, servers: 1, templates: 1, limit: 3)
        for number in 1...9 {
            let target = Meters.Target(method: "GET", address: "\(number)", port: "1", template: "")
            for _ in 1...2 {
                meters.requests(to: target).retries.increment()
                meters.responses(to: target, status: 200).duration.recordNanoseconds(1)
            }
        }
        let named = Set(["1", "2", "3", "_OTHER"])
        let (counters, timers) = (
            metrics.counters(label: "beagle.request.retries"), metrics.timers(label: "http.client.request.duration")
        )
        #expect(Set(counters.flatMap { $0.dimensions.filter { $0.0 == "server.address" }.map(\.1) }) == named)
        #expect(Set(timers.flatMap { $0.dimensions.filter { $0.0 == "server.address" }.map(\.1) }) == named)
        #expect(counters.map(\.totalValue).reduce(0, +) == 18 && timers.map(\.values.count).reduce(0, +) == 18)
    }

    @Test func environmentOverridesTheKnownMethods() {
        #expect(KnownMethod.named(by: nil).contains("PATCH") && KnownMethod.named(by: nil).count == 9)
        #expect(KnownMethod.named(by: "") == KnownMethod.named(by: nil))
        #expect(KnownMethod.named(by: "GET, BREW,") == ["GET", "BREW"])
    }
}
