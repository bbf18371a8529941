import Foundation
import Testing

@testable import BeagleNetHTTP

struct AltSvcStoreTests {
    private typealias Service = AltSvcStore.Service

    let time = Lock(Date(timeIntervalSince1970: 1_700_000_000))
    let store: AltSvcStore

    init() {
        store = AltSvcStore { [time] in time.withLock { $0 } }
    }

    private func head(_ url: String) throws -> HTTPRequest { HTTPRequest(url: try #require(URL(string: url))) }

    private func take(
        _ text: String,
        from url: String = "https://example.org/",
        status: Int = 200,
        age: Int? = nil
    ) throws {
        var response = HTTPResponse(
            status: .init(code: status),
            headerFields: HTTPFields([HTTPField(name: .altSvc, value: text)])
        )
        if let age { response.headerFields[.age] = String(age) }
        store.store(from: response, of: try head(url))
    }

    /// Returns the host and port of the alternative for a request, or `nil` if the request uses its origin.
    private func place(_ url: String = "https://example.org/a", supporting: [HTTPVersion] = [.http2]) throws -> String?
    {
        store.service(for: try head(url)) { supporting.contains($0) }.map { "\($0.host):\($0.port)" }
    }

    private func wait(_ seconds: TimeInterval) {
        time.withLock { $0 = $0.addingTimeInterval(seconds) }
    }

    @Test func alternativeIsUsedForItsOriginUntilItExpires() throws {
        try take("h2=\"a.org:1\"; ma=60")
        #expect(try place() == "a.org:1")
        #expect(try place("https://example.org:443/") == "a.org:1")
        for other in ["http://example.org/", "https://example.org:8443/", "https://www.example.org/", "https://a.org/"]
        {
            #expect(try place(other) == nil)
        }
        wait(60)
        #expect(try place() == nil)
        #expect(store.services.isEmpty)
    }

    @Test func ageOfTheResponseCountsTowardsMaxAge() throws {
        try take("h2=\"a.org:1\"; ma=60", age: 50)
        wait(10)
        #expect(try place() == nil)
        try take("h2=\"a.org:1\"; ma=60", age: 60)
        #expect(try place() == nil)
    }

    @Test func firstAlternativeWithASupportedProtocolIsUsed() throws {
        try take("x9=\"x.org:1\", h3=\":443\", h2=\"a.org:1\", h2=\"b.org:1\"")
        #expect(try place() == "a.org:1")
        #expect(try place(supporting: [.http2, .http3]) == "example.org:443")
        #expect(try place(supporting: []) == nil)
    }

    @Test func originIsNotItsOwnAlternativeOverTheSameProtocol() throws {
        try take("h2=\":443\", h2=\"EXAMPLE.org:443\", h2=\":444\"")
        #expect(store.services.map(\.port) == [444])
    }

    @Test func laterFieldReplacesAnEarlierOne() throws {
        try take("h2=\"a.org:1\"")
        try take("nonsense")
        #expect(try place() == "a.org:1")
        try take("h2=\"b.org:1\"")
        #expect(store.services.map(\.host) == ["b.org"])
        try take("clear")
        #expect(try place() == nil)
    }

    @Test func untrustworthyResponseIsIgnored() throws {
        try take("h2=\"a.org:1\"", from: "http://example.org/")
        try take("h2=\"a.org:1\"", status: 421)
        #expect(store.services.isEmpty)
    }

    @Test func failedAlternativeIsSuspendedEvenIfAnnouncedAgain() throws {
        try take("h2=\"a.org:1\", h2=\"b.org:1\"")
        store.markBroken(try #require(store.services.first))
        #expect(try place() == "b.org:1")
        try take("h2=\"a.org:1\"")
        #expect(try place() == nil)
        wait(300)
        #expect(try place() == "a.org:1")
        store.forget(try #require(store.services.first))
        #expect(store.services.isEmpty)
    }

    @Test func networkChangeKeepsOnlyPersistentAlternatives() throws {
        try take("h2=\"a.org:1\", h2=\"b.org:1\"; persist=1")
        store.markBroken(try #require(store.services.last))
        store.networkDidChange()
        #expect(try place() == "b.org:1")
        #expect(store.services.count == 1)
    }

    @Test func storeKeepsAtMost1000ServicesAnd8OfAnOrigin() throws {
        let many = (1...20).map { "h2=\"a.org:\($0)\"" }.joined(separator: ",")
        for number in 1...126 { try take(many + ";ma=\(number)", from: "https://h\(number).org/") }
        #expect(store.services.count == 1_000)
        #expect(store.services.allSatisfy { $0.port <= 8 })
        try take("h2=\"a.org:1\"; ma=1")
        #expect(try place() == nil)
        try take("h2=\"a.org:1\"; ma=99999")
        #expect(try place() != nil)
        #expect(store.services.count <= 1_000)
    }

    private static let invalidServiceIsRejectedArguments: [(AltSvcStore.Service, String)] = [
        (Service(for: Origin(scheme: "http", host: "h"), host: "a"), "does not use https"),
        (Service(for: Origin(scheme: "https", host: "h"), .http1, host: "a"), "neither HTTP/2"),
        (Service(for: Origin(scheme: "https", host: "h"), host: "a b"), "its host"),
        (Service(for: Origin(scheme: "https", host: "h"), host: ""), "its host"),
        (Service(for: Origin(scheme: "https", host: "h"), host: "::1"), "its host"),
        (Service(for: Origin(scheme: "https", host: "h"), host: "a", port: 0), "its port 0"),
    ]

    @Test(arguments: Self.invalidServiceIsRejectedArguments)
    func invalidServiceIsRejected(_ service: AltSvcStore.Service, problem: String) throws {
        let error = #expect(throws: NetworkError.self) { try store.add(service) }
        #expect(error?.kind == .badConfiguration && error?.phase == .build)
        #expect(error?.message.contains(problem) == true)
        #expect(store.services.isEmpty)
    }

    @Test func appCanAddAndRemoveServices() throws {
        let origin = Origin(scheme: "https", host: "example.org")
        try store.add(Service(for: origin, host: "A.org"))
        try store.add(Service(for: origin, host: "[::1]", port: 8_443))
        try store.add(Service(for: origin, host: "a.org", isPersistent: true))
        #expect(store.services.map(\.host) == ["[::1]", "a.org"])
        store.removeAll { $0.host == "a.org" }
        #expect(store.services.map(\.host) == ["[::1]"])
        store.removeAll()
        #expect(try place() == nil)
    }

    @Test func storeIsSavedInCurlsFormatAndLoaded() throws {
        let path = "/tmp/beaglenet-altsvc-\(UInt32.random(in: .min ... .max))"
        defer { _ = remove(path) }
        try take("h3=\":443\"; ma=60; persist=1, h2=\"[::1]:8443\"; ma=60")
        try store.save(to: path)
        #expect(
            try PrivateFile(path: path).lines().dropFirst().map(String.init) == [
                "h2 example.org 443 h3 example.org 443 \"20231114 22:14:20\" 1 0",
                "h2 example.org 443 h2 [::1] 8443 \"20231114 22:14:20\" 0 0", "",
            ]
        )
        let loaded = try AltSvcStore(contentsOf: path) { [time] in time.withLock { $0 } }
        #expect(loaded.services == store.services)
    }

    @Test func linesOfOtherProtocolsAreSkipped() throws {
        let path = "/tmp/beaglenet-altsvc-\(UInt32.random(in: .min ... .max))"
        defer { _ = remove(path) }
        try PrivateFile(path: path).write(
            """
            # curl's
            h2 example.org 443 h1 a.org 443 "20301231 23:59:59" 0 0
            h3 example.org 8443 h2 ::1 443 "20301231 23:59:59" 1 0

            """
        )
        let services = try AltSvcStore(contentsOf: path) { [time] in time.withLock { $0 } }.services
        #expect(services.map { "\($0.origin.port) \($0.host) \($0.isPersistent)" } == ["8443 [::1] true"])
    }

    private static let errorNamesTheInvalidLineArguments: [String] = [
        "h2 a 443 h2 b 443", "h2 a 443 h2 b 443 \"soon\" 0 0", "h2 a x h2 b 443 \"20301231 23:59:59\" 0 0",
        "h2 a 443 h2 b 0 \"20301231 23:59:59\" 0 0", "h2 a 443 h2 b 443 \"20301231 23:59:59\" 2 0",
        "h2 a 443 h2 b 443 \"20301231 23:59:59\"", "h2 a 443 h2 b/c 443 \"20301231 23:59:59\" 0 0",
        "h2 a 0 h2 b 443 \"20301231 23:59:59\" 0 0", "\"20301231 23:59:59\"",
    ]

    @Test(arguments: Self.errorNamesTheInvalidLineArguments)
    func errorNamesTheInvalidLine(_ line: String) throws {
        let path = "/tmp/beaglenet-altsvc-\(UInt32.random(in: .min ... .max))"
        defer { _ = remove(path) }
        try PrivateFile(path: path).write("# head\n\(line)\n")
        let error = #expect(throws: NetworkError.self) { try AltSvcStore(contentsOf: path) }
        #expect(error?.message == "line 2 of \(path) is not a valid alternative service")
        let good = "h2 example.org 443 h3 other.example.org 8443 \"20991231 23:59:59\" 0 0"
        try PrivateFile(path: path).write("\(line)\n\(good)\n")
        var skipped: [String] = []
        let store = try AltSvcStore(contentsOf: path, onSkippedLine: { skipped.append($0.message) })
        #expect(store.services.map(\.host) == ["other.example.org"])
        #expect(skipped == ["line 1 of \(path) is not a valid alternative service"])
    }
}
