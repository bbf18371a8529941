import Foundation
import Testing

@testable import BeagleNetHTTP

struct HSTSStoreTests {
    let time = Lock(Date(timeIntervalSince1970: 1_700_000_000))
    let store: HSTSStore

    init() {
        store = HSTSStore { [time] in time.withLock { $0 } }
    }

    private func take(_ text: String..., from url: String = "https://a.example.org/") throws {
        var fields = HTTPFields()
        for text in text { fields.append(HTTPField(name: .strictTransportSecurity, value: text)) }
        store.store(from: fields, of: HTTPRequest(url: try #require(URL(string: url))))
    }

    private static let policyIsParsedArguments: [(String, Int, Bool)] = [
        ("max-age=31536000", 31_536_000, false), ("max-age=15768000 ; includeSubDomains", 15_768_000, true),
        ("max-age=\"31536000\"", 31_536_000, false), ("max-age=0", 0, false), ("MAX-AGE=1;INCLUDESUBDOMAINS", 1, true),
        ("max-age=1; preload; odd=\"x\"", 1, false), (" ; max-age = 1 ;", 1, false),
        ("max-age=99999999999999999999", Int.max, false),
    ]

    /// RFC 6797, 6.1.
    @Test(arguments: Self.policyIsParsedArguments)
    func policyIsParsed(_ text: String, _ age: Int, _ includesSubdomains: Bool) throws {
        let policy = try #require(TransportSecurity(text))
        #expect(policy.maxAge == age)
        #expect(policy.includesSubdomains == includesSubdomains)
    }

    private static let invalidPolicyIsIgnoredArguments: [String] = [
        "", "includeSubDomains", "max-age", "max-age=", "max-age=x", "max-age=-1", "max-age=1; max-age=1", "max-age=\"",
    ]

    @Test(arguments: Self.invalidPolicyIsIgnoredArguments)
    func invalidPolicyIsIgnored(_ text: String) {
        #expect(TransportSecurity(text) == nil)
    }

    @Test func hostIsCoveredUntilItsPolicyExpires() throws {
        try take("max-age=60")
        #expect(store.requiresHTTPS("a.example.org"))
        #expect(!store.requiresHTTPS("b.a.example.org"))
        #expect(!store.requiresHTTPS("example.org"))
        time.withLock { $0 = $0.addingTimeInterval(60) }
        #expect(!store.requiresHTTPS("a.example.org"))
        #expect(store.hosts.isEmpty)
    }

    @Test func subdomainsAreCoveredIfThePolicyIncludesThem() throws {
        try take("max-age=60; includeSubDomains")
        #expect(store.requiresHTTPS("b.a.example.org"))
        #expect(store.requiresHTTPS("c.b.a.example.org"))
        #expect(!store.requiresHTTPS("ba.example.org"))
        try take("max-age=60")
        #expect(!store.requiresHTTPS("b.a.example.org"))
        try take("max-age=0")
        #expect(!store.requiresHTTPS("a.example.org"))
    }

    /// The root dot (8.2).
    @Test(arguments: ["a.example.org", "A.example.org."], ["a.example.org", "a.example.org."])
    func trailingDotIsIgnored(_ known: String, _ host: String) throws {
        try take("max-age=60; includeSubDomains", from: "https://\(known)/")
        #expect(store.requiresHTTPS(host))
        #expect(store.requiresHTTPS("b.\(host)"))
        store.set(HSTSStore.Host(name: known))
        #expect(store.hosts.map(\.name) == ["a.example.org"])
        #expect(!store.requiresHTTPS("b.\(host)"))
    }

    @Test func onlyTheFirstFieldIsUsed() throws {
        try take("max-age=60", "max-age=0")
        #expect(store.requiresHTTPS("a.example.org"))
    }

    @Test(arguments: ["http://a.example.org/", "https://127.0.0.1/", "https://127.0.0.1./", "https://[::1]/"])
    func fieldIsIgnoredWithoutTLSOrForAnIPAddress(_ url: String) throws {
        try take("max-age=60", from: url)
        #expect(store.hosts.isEmpty)
    }

    @Test func storeKeepsAtMost1000Hosts() throws {
        for number in 1...1_001 { try take("max-age=\(number)", from: "https://h\(number).org/") }
        #expect(store.hosts.count == 1_000)
        #expect(!store.requiresHTTPS("h1.org"))
    }

    private static let upgradeKeepsThePortExceptPort80Arguments: [(String, String)] = [
        ("h.org", "h.org"), ("h.org:80", "h.org"), ("h.org:8080", "h.org:8080"), ("[::1]:80", "[::1]"),
    ]

    @Test(arguments: Self.upgradeKeepsThePortExceptPort80Arguments)
    func upgradeKeepsThePortExceptPort80(_ authority: String, _ upgraded: String) {
        var head = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/")
        head.upgrade()
        #expect(head.scheme == "https")
        #expect(head.authority == upgraded)
    }

    @Test func storeIsSavedInCurlsFormatAndLoaded() throws {
        let path = "/tmp/beaglenet-hsts-\(UInt32.random(in: .min ... .max))"
        defer { _ = remove(path) }
        try take("max-age=60; includeSubDomains")
        store.set(HSTSStore.Host(name: "H.org"))
        try store.save(to: path)
        #expect(
            try PrivateFile(path: path).lines().dropFirst().map(String.init)
                == [".a.example.org \"20231114 22:14:20\"", "h.org \"unlimited\"", ""]
        )
        let loaded = try HSTSStore(contentsOf: path) { [time] in time.withLock { $0 } }
        #expect(Set(loaded.hosts) == Set(store.hosts))
    }

    /// HSTS and Alt-Svc files have years with four digits.
    @Test(arguments: [253_402_300_799, 253_402_300_800, 1e19, Double.infinity])
    func distantTimeIsWrittenAsTheLastOfYear9999(_ seconds: Double) {
        #expect(Date(timeIntervalSince1970: seconds).curlText == "99991231 23:59:59")
    }

    private static let errorNamesTheInvalidLineArguments: [String] = [
        "h.org", "h.org 20231114", "h.org \"soon\"", ". \"unlimited\"", ".. \"unlimited\"",
        "h.org \"20231301 00:00:00\"", "h.org \"",
    ]

    @Test(arguments: Self.errorNamesTheInvalidLineArguments)
    func errorNamesTheInvalidLine(_ line: String) throws {
        let path = "/tmp/beaglenet-hsts-\(UInt32.random(in: .min ... .max))"
        defer { _ = remove(path) }
        try PrivateFile(path: path).write("# head\n\(line)\n")
        let error = #expect(throws: NetworkError.self) { try HSTSStore(contentsOf: path) }
        #expect(error?.message == "line 2 of \(path) is not a valid HSTS host")
        try PrivateFile(path: path).write("\(line)\nh.org \"unlimited\"\n")
        var skipped: [String] = []
        let store = try HSTSStore(contentsOf: path, onSkippedLine: { skipped.append($0.message) })
        #expect(store.hosts.map(\.name) == ["h.org"])
        #expect(skipped == ["line 1 of \(path) is not a valid HSTS host"])
    }

    private static let daysAndDatesConvertInBothDirectionsArguments: [Int] = [
        0, 1, 59, 60, 11_016, 19_675, 19_782, 20_454, 47_541, 2_932_896,
    ]

    @Test(arguments: Self.daysAndDatesConvertInBothDirectionsArguments)
    func daysAndDatesConvertInBothDirections(_ days: Int) throws {
        let date = CivilDate(days: days)
        #expect(try #require(CivilDate(year: date.year, month: date.month, day: date.day)).days == days)
        let next = CivilDate(days: days + 1)
        func number(_ date: CivilDate) -> Int { (date.year * 100 + date.month) * 100 + date.day }
        #expect(number(date) < number(next))
    }
}
