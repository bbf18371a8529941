import BeagleNetCache
import BeagleNetHTTP
import Foundation
import Testing

/// A response is received at `now`, and the same URL is requested after `delay` seconds.
struct CacheCase: Sendable, CustomTestStringConvertible {
    var clause: String
    var status = 200
    var fields: [(String, String)]
    var delay = 10.0
    var stored: [(String, String)] = []
    var request: [(String, String)] = []
    var use = CachePolicy.Use.fresh
    var expected: String

    var testDescription: String { "\(clause): \(status) \(fields) after \(delay) s, \(request) -> \(expected)" }

    init(
        _ clause: String,
        _ fields: [(String, String)],
        _ expected: String,
        status: Int = 200,
        after delay: Double = 10,
        from stored: [(String, String)] = [],
        request: [(String, String)] = [],
        use: CachePolicy.Use = .fresh
    ) {
        (self.clause, self.fields, self.expected) = (clause, fields, expected)
        (self.status, self.delay, self.stored, self.request, self.use) = (status, delay, stored, request, use)
    }
}

/// 6 November 2024, 08:49:37 GMT, a Wednesday.
private let now = Date(timeIntervalSince1970: 1_730_882_977)

private func date(_ seconds: Double) -> String {
    HTTPDate(seconds: Int64(now.timeIntervalSince1970 + seconds)).description
}

func fields(_ pairs: [(String, String)]) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in pairs { fields.append(HTTPField(name: HTTPField.Name(name)!, value: value)) }
    return fields
}

func get(_ pairs: [(String, String)] = [], method: HTTPRequest.Method = .get, path: String = "/a") -> HTTPRequest {
    HTTPRequest(method: method, scheme: "http", authority: "host", path: path, headerFields: fields(pairs))
}

func response(_ pairs: [(String, String)], status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: .init(code: status), headerFields: fields(pairs))
}

func stored(
    _ pairs: [(String, String)],
    status: Int = 200,
    body: String = "0123456789",
    for request: HTTPRequest = get(),
    at time: Date = now
) -> StoredResponse {
    CachePolicy.stored(
        response(pairs, status: status),
        body: Data(body.utf8),
        to: request,
        requestTime: time,
        responseTime: time
    )
}

@Suite struct CachePolicyTests {
    private func outcome(of row: CacheCase) -> String {
        let first = get(row.stored)
        var responses: [StoredResponse] = []
        if CachePolicy.mayStore(response(row.fields, status: row.status), to: first) {
            responses = [stored(row.fields, status: row.status, for: first)]
        }
        let later = now.addingTimeInterval(row.delay)
        switch CachePolicy.decision(for: get(row.request), responses, use: row.use, now: later) {
        case .hit: return "hit"
        case .staleWhileRevalidate: return "stale-while-revalidate"
        case .unavailable: return "unavailable"
        case .forward(let reason, let stored, let candidates):
            let names = CachePolicy.conditions(for: stored, candidates: candidates).map(\.name.canonicalName)
            return ([reason.rawValue] + names).joined(separator: " ")
        }
    }

    @Test(arguments: freshness) func freshnessFollowsRFC9111(row: CacheCase) {
        #expect(outcome(of: row) == row.expected)
    }

    static let freshness: [CacheCase] = [
        .init("5.2.2.1", [("Cache-Control", "max-age=60")], "hit"),
        .init("4.2", [("Cache-Control", "max-age=10")], "stale"),
        .init("4.2", [("Cache-Control", "max-age=11")], "hit"),
        .init("4.2, 300 ms late", [("Cache-Control", "max-age=1")], "stale", after: 1.3),
        .init("5.2.2.1", [("Cache-Control", "MAX-AGE=60")], "hit"),
        .init("5.2.2.1", [("Cache-Control", "private,max-age=60, x=\"a, max-age=1\"")], "hit"),
        .init("5.2", [("Cache-Control", "x=\"max-age=60\", max-age=1")], "stale"),
        .init("5.2", [("Cache-Control", "max-age=\"60\"")], "hit"),
        .init("5.2", [("Cache-Control", "max-age='60'")], "stale"),
        .init("4.2.1", [("Cache-Control", "max-age=-1")], "stale"),
        .init("4.2.1", [("Cache-Control", "max-age=60s")], "stale"),
        .init("4.2.1", [("Cache-Control", "max-age=")], "stale"),
        .init("4.2.1", [("Cache-Control", "max-age =60")], "stale"),
        .init("4.2.1", [("Cache-Control", "max-age=1.5e3")], "stale"),
        .init("1.2.2", [("Cache-Control", "max-age=000060")], "hit"),
        .init("1.2.2", [("Cache-Control", "max-age=99999999999999999999")], "hit", after: 1e9),
        .init("4.2.1", [("Cache-Control", "max-age=60, max-age=5")], "stale"),
        .init("4.2.1", [("Cache-Control", "max-age=60"), ("Cache-Control", "max-age=5")], "stale"),
        .init("5.2.2.10, for shared caches only", [("Cache-Control", "s-maxage=60")], "stale"),
        .init("5.2.2.1", [("Cache-Control", "max-age=60"), ("Expires", date(-60))], "hit"),
        .init("5.2.2.1", [("Cache-Control", "max-age=5"), ("Expires", date(60))], "stale"),
        .init("5.3", [("Expires", date(60))], "hit"),
        .init("5.3", [("Expires", date(10)), ("Date", date(0))], "stale"),
        .init("5.3, against the server's clock", [("Expires", date(-3_540)), ("Date", date(-3_600))], "stale"),
        .init("5.3", [("Expires", "0")], "stale"),
        .init("5.3", [("Expires", "Sunday, 06-Nov-44 08:49:37 GMT")], "hit"),
        .init("5.3", [("Expires", "Sun Nov  6 08:49:37 2044")], "hit"),
        .init("4.2, case", [("Expires", "sUN, 06 nOV 2044 08:49:37 gmt")], "hit"),
        .init("5.3", [("Expires", "Sun, 06 Nov 44 08:49:37 GMT")], "stale"),
        .init("5.3", [("Expires", "Sun, 06-Nov-2044 08:49:37 GMT")], "stale"),
        .init("5.3", [("Expires", "Sun, 06 Nov 2044 08:49:37 UTC")], "stale"),
        .init("5.3", [("Expires", "Sun, 00 Jan 0000 00:00:00 GMT")], "stale"),
        .init("5.3", [("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")], "hit"),
        .init("5.3", [("Expires", date(60)), ("Expires", date(70))], "stale"),
        .init("5.1", [("Cache-Control", "max-age=60"), ("Age", "49")], "hit"),
        .init("5.1", [("Cache-Control", "max-age=60"), ("Age", "50")], "stale"),
        .init("5.1", [("Cache-Control", "max-age=60"), ("Age", "0, 50")], "hit"),
        .init("5.1", [("Cache-Control", "max-age=60"), ("Age", "50, 0")], "stale"),
        .init("5.1", [("Cache-Control", "max-age=60"), ("Age", "-50")], "hit"),
        .init("5.1", [("Cache-Control", "max-age=60"), ("Age", "50.0")], "hit"),
        .init("5.1", [("Cache-Control", "max-age=2147483647"), ("Age", "99999999999999999999")], "stale"),
        .init("4.2.3, apparent age", [("Cache-Control", "max-age=60"), ("Date", date(-55))], "stale"),
        .init("4.2.3", [("Cache-Control", "max-age=60"), ("Date", "yesterday")], "hit"),
        .init("4.2.2", [("Last-Modified", date(-1_000))], "hit"),
        .init("4.2.2", [("Last-Modified", date(-100))], "stale if-modified-since"),
        .init("4.2.2, a day at most", [("Last-Modified", date(-1e9))], "stale if-modified-since", after: 86_401),
        .init("4.2.2", [("Last-Modified", date(-1_000))], "uri-miss", status: 403),
        .init("4.2.2", [("Last-Modified", date(-1_000)), ("Cache-Control", "public")], "hit", status: 599),
        .init("4.2.2", [("Last-Modified", date(-1_000))], "hit", status: 404),
        .init("4.2.2", [], "stale"),
        .init("the clock was set back", [("Cache-Control", "max-age=60")], "stale", after: -61),
        .init("the clock was adjusted", [("Cache-Control", "max-age=60")], "hit", after: -5),
        .init("beagle-hash", [("beagle-hash", "abc")], "hit", after: 299),
        .init("beagle-hash", [("beagle-hash", "abc")], "stale beagle-hash", after: 301),
        .init("beagle-hash", [("beagle-hash", "abc"), ("Cache-Control", "max-age=5")], "stale beagle-hash"),
    ]

    @Test(arguments: directives) func directivesFollowRFC9111(row: CacheCase) {
        #expect(outcome(of: row) == row.expected)
    }

    private static let fresh = [("Cache-Control", "max-age=60"), ("ETag", "\"a\"")]
    private static let stale = [("Cache-Control", "max-age=5"), ("ETag", "\"a\"")]
    private static func staleWith(_ directives: String) -> [(String, String)] {
        [("Cache-Control", "max-age=5, \(directives)"), ("ETag", "\"a\"")]
    }

    static let directives: [CacheCase] = [
        .init("5.2.2.5", [("Cache-Control", "no-store, max-age=60")], "uri-miss"),
        .init("5.2.2.5", [("Cache-Control", "NO-store")], "uri-miss"),
        .init("5.2.2.3", [("Cache-Control", "no-store, must-understand, max-age=60")], "hit"),
        .init("5.2.2.3", [("Cache-Control", "no-store, must-understand, max-age=60")], "uri-miss", status: 599),
        .init("5.2.2.4", [("Cache-Control", "no-cache, max-age=60"), ("ETag", "\"a\"")], "stale if-none-match"),
        .init("5.2.2.4", [("Cache-Control", "no-cache=\"x-a\", max-age=60")], "hit"),
        .init(
            "5.2.2.2",
            staleWith("must-revalidate"),
            "stale if-none-match",
            request: [("Cache-Control", "max-stale")]
        ),
        .init("5.2.2.2", [("Cache-Control", "max-age=60, must-revalidate")], "hit"),
        .init("RFC 5861, 3", staleWith("stale-while-revalidate=5"), "stale-while-revalidate"),
        .init("RFC 5861, 3", staleWith("stale-while-revalidate=4"), "stale if-none-match"),
        .init("RFC 5861, 3", staleWith("stale-while-revalidate=60, must-revalidate"), "stale if-none-match"),
        .init("5.2.1.1", fresh, "request if-none-match", request: [("Cache-Control", "max-age=9")]),
        .init("5.2.1.1", fresh, "hit", request: [("Cache-Control", "max-age=10")]),
        .init("5.2.1.2", stale, "hit", request: [("Cache-Control", "max-stale=5")]),
        .init("5.2.1.2", stale, "stale if-none-match", request: [("Cache-Control", "max-stale=4")]),
        .init("5.2.1.2", stale, "hit", request: [("Cache-Control", "max-stale")]),
        .init("5.2.1.3", fresh, "request if-none-match", request: [("Cache-Control", "min-fresh=51")]),
        .init("5.2.1.3", fresh, "hit", request: [("Cache-Control", "min-fresh=50")]),
        .init("5.2.1.4", fresh, "request if-none-match", request: [("Cache-Control", "no-cache")]),
        .init("5.2.1.5", fresh, "bypass", request: [("Cache-Control", "no-store")]),
        .init("5.2.1.7", stale, "unavailable", request: [("Cache-Control", "only-if-cached")]),
        .init("5.2.1.7", fresh, "hit", request: [("Cache-Control", "only-if-cached")]),
        .init("5.4", fresh, "request if-none-match", request: [("Pragma", "no-cache")]),
        .init("5.4", fresh, "hit", request: [("Pragma", "no-cache"), ("Cache-Control", "max-age=60")]),
        .init(
            "RFC 8246",
            [("Cache-Control", "max-age=60, immutable")],
            "hit",
            request: [("Cache-Control", "max-age=0")]
        ),
        .init("RFC 8246", staleWith("immutable"), "request if-none-match", request: [("Cache-Control", "max-age=0")]),
    ]

    @Test(arguments: uses) func policiesOfTheAppDecideWhichStoredResponsesWillDo(row: CacheCase) {
        #expect(outcome(of: row) == row.expected)
    }

    static let uses: [CacheCase] = [
        .init("no lifetime stated", [], "hit", use: .freshOrUnspecified(limit: .infinity)),
        .init("no lifetime stated", [], "stale", use: .freshOrUnspecified(limit: 10)),
        .init("a lifetime counts", stale, "stale if-none-match", use: .freshOrUnspecified(limit: .infinity)),
        .init("both count", fresh, "stale if-none-match", use: .freshOrUnspecified(limit: 5)),
        .init(
            "must be validated",
            [("Cache-Control", "must-revalidate")],
            "stale",
            use: .freshOrUnspecified(limit: 60)
        ),
        .init("any", stale, "hit", use: .any),
        .init("any", staleWith("must-revalidate"), "unavailable", use: .any),
        .init("any", [("Cache-Control", "no-store")], "unavailable", use: .any),
        .init("validated", fresh, "bypass if-none-match", use: .validated(unlessImmutable: true)),
        .init("validated", [("Cache-Control", "max-age=60, immutable")], "hit", use: .validated(unlessImmutable: true)),
        .init("none", fresh, "bypass", use: .none),
    ]

    @Test(arguments: selection) func varySelectsAmongResponses(row: CacheCase) {
        #expect(outcome(of: row) == row.expected)
    }

    private static func varied(_ names: String) -> [(String, String)] {
        [("Cache-Control", "max-age=60"), ("Vary", names), ("ETag", "\"a\"")]
    }

    static let selection: [CacheCase] = [
        .init("4.1", varied("X-A"), "hit", from: [("X-A", "1")], request: [("X-A", "1")]),
        .init("4.1", varied("X-A"), "vary-miss if-none-match", from: [("X-A", "1")], request: [("X-A", "2")]),
        .init("4.1", varied("X-A"), "vary-miss if-none-match", from: [("X-A", "1")]),
        .init("4.1", varied("X-A"), "vary-miss if-none-match", request: [("X-A", "1")]),
        .init(
            "4.1",
            varied("x-a, X-B"),
            "hit",
            from: [("X-A", "1"), ("X-B", "2")],
            request: [("X-B", "2"), ("X-A", "1")]
        ),
        .init("4.1", varied("X-A"), "hit", from: [("X-A", "1, 2")], request: [("X-A", "1"), ("X-A", " 2")]),
        .init(
            "4.1",
            varied("Accept-Language"),
            "hit",
            from: [("Accept-Language", "de, EN;q=0.5")],
            request: [("Accept-Language", "en; q=0.5,DE")]
        ),
        .init(
            "4.1",
            varied("Accept-Language"),
            "vary-miss if-none-match",
            from: [("Accept-Language", "de, en")],
            request: [("Accept-Language", "de, en;q=0.5")]
        ),
        .init("4.1", varied("*"), "uri-miss"),
        .init("4.1", varied("X-A, *"), "uri-miss"),
        .init("4.1", varied(", *"), "uri-miss"),
    ]

    // MARK: - Storing and serving

    @Test(arguments: [(206, false), (304, false), (103, false), (302, true), (500, true), (204, true)])
    func explicitLifetimeAllowsStoringOfFinalCompleteResponses(status: Int, isStored: Bool) {
        #expect(
            CachePolicy.mayStore(response([("Cache-Control", "max-age=60")], status: status), to: get()) == isStored
        )
    }

    @Test func fieldsOfTheConnectionAreNotStored() {
        let stored = stored([
            ("Connection", "X-A, keep-alive"), ("X-A", "1"), ("Keep-Alive", "5"), ("Transfer-Encoding", "chunked"),
            ("Proxy-Authenticate", "Basic"), ("X-B", "2"), ("Cache-Control", "no-cache=\"X-C, X-D\""), ("X-C", "3"),
            ("X-D", "4"),
            ("Set-Cookie", "a=1"),
        ])
        #expect(stored.head.headerFields.map(\.name.canonicalName) == ["x-b", "cache-control", "set-cookie"])
    }

    @Test func servedResponseHasItsAge() throws {
        let served = try #require(
            CachePolicy.response(
                stored([("Age", "5"), ("Date", date(0))]),
                to: get(),
                now: now.addingTimeInterval(3.9)
            )
        )
        #expect(served.head.head.headerFields[values: .age] == ["8"])
        #expect(served.head.head.headerFields[.date] == date(0))
    }

    @Test(
        arguments: [
            ([("If-None-Match", "\"a\"")], 304), ([("If-None-Match", "\"b\", W/\"a\"")], 304),
            ([("If-None-Match", "*")], 304),
            ([("If-None-Match", "\"b\"")], 200), ([("If-None-Match", "\"b\""), ("If-Modified-Since", date(60))], 200),
            ([("If-Modified-Since", date(-100))], 304), ([("If-Modified-Since", date(-101))], 200),
            ([("If-Modified-Since", "yesterday")], 200),
        ] as [([(String, String)], Int)]
    )
    func conditionsOfTheAppAreEvaluated(request: [(String, String)], status: Int) throws {
        let stored = stored([("ETag", "\"a\""), ("Last-Modified", date(-100)), ("X-A", "1")])
        let served = try #require(CachePolicy.response(stored, to: get(request), now: now))
        #expect(served.head.status.code == status)
        #expect(served.head.head.headerFields[.eTag] == "\"a\"")
        #expect(served.body.isEmpty == (status == 304))
    }

    @Test(
        arguments: [
            ("bytes=0-1", 206, "01"), ("bytes=8-", 206, "89"), ("bytes=-3", 206, "789"), ("bytes=5-100", 206, "56789"),
            ("bytes=-100", 206, "0123456789"), ("bytes=10-", nil, nil), ("bytes=3-2", nil, nil),
            ("bytes=0-1,3-4", nil, nil),
            ("bytes=a-b", nil, nil), ("items=0-1", nil, nil), ("bytes=-0", nil, nil),
        ] as [(String, Int?, String?)]
    )
    func rangeIsServedFromAWholeResponse(range: String, status: Int?, body: String?) {
        let served = CachePolicy.response(stored([]), to: get([("Range", range)]), now: now)
        #expect(served?.head.status.code == status)
        #expect(served.map { String(decoding: $0.body, as: UTF8.self) } == body)
    }

    @Test(arguments: [("\"a\"", 206), ("W/\"a\"", 200), ("\"b\"", 200), (date(-100), 206), (date(-99), 200)])
    func rangeWithAConditionNeedsAStrongMatch(condition: String, status: Int) throws {
        let stored = stored([("ETag", "\"a\""), ("Last-Modified", date(-100))])
        let request = get([("Range", "bytes=0-1"), ("If-Range", condition)])
        #expect(try #require(CachePolicy.response(stored, to: request, now: now)).head.status.code == status)
    }

    // MARK: - Validation

    @Test func confirmedResponseHasTheNewFieldsAndItsOwnBody() {
        let old = stored([
            ("Cache-Control", "max-age=5"), ("ETag", "\"a\""), ("X-A", "1"), ("X-B", "1"), ("Content-Length", "10"),
            ("Age", "4"),
        ])
        let later = now.addingTimeInterval(10)
        let update = response([("Cache-Control", "max-age=60"), ("X-A", "2"), ("Content-Length", "0")], status: 304)
        let new = CachePolicy.refreshed(old, by: update, to: get(), requestTime: later, responseTime: later)
        #expect(new.head.status == .ok)
        #expect(new.body == old.body)
        #expect(new.head.headerFields[.init("X-A")!] == "2")
        #expect(new.head.headerFields[.init("X-B")!] == "1")
        #expect(new.head.headerFields[.contentLength] == "10")
        #expect(new.isFresh(at: later.addingTimeInterval(59)))
        #expect(!new.isFresh(at: later.addingTimeInterval(61)))
    }

    @Test func confirmationNamesOneOfSeveralResponses() {
        let one = stored([("ETag", "\"1\"")]), other = stored([("ETag", "W/\"2\"")])
        func confirmed(_ tag: String?) -> StoredResponse? {
            CachePolicy.confirmed(
                by: response(tag.map { [("ETag", $0)] } ?? [], status: 304),
                nil,
                candidates: [one, other]
            )
        }
        #expect(confirmed("\"1\"") === one)
        #expect(confirmed("\"2\"") === other)
        #expect(confirmed("\"3\"") == nil)
        #expect(confirmed(nil) == nil)
        #expect(CachePolicy.conditions(for: nil, candidates: [one, other])[.ifNoneMatch] == "\"1\", W/\"2\"")
    }

    @Test func headResponseUpdatesTheStoredOneIfItIsOfTheSameBody() {
        let old = stored([("ETag", "\"a\""), ("Content-Length", "10")])
        func refreshed(_ pairs: [(String, String)]) -> StoredResponse? {
            CachePolicy.refreshed(old, byHead: response(pairs), to: get(), requestTime: now, responseTime: now)
        }
        #expect(refreshed([("ETag", "\"a\""), ("X-A", "1")])?.head.headerFields[.init("X-A")!] == "1")
        #expect(refreshed([("ETag", "\"b\"")]) == nil)
        #expect(refreshed([("Content-Length", "11")]) == nil)
    }

    @Test(arguments: [
        ("stale-if-error=60", 10, true), ("stale-if-error=4", 10, false), ("stale-if-error=60, no-cache", 10, false),
        ("private", 10, false),
    ])
    func staleResponseReplacesAnErrorIfTheServerAllowsIt(directive: String, delay: Double, isAllowed: Bool) {
        let stored = stored([("Cache-Control", "max-age=5, \(directive)")])
        let later = now.addingTimeInterval(delay)
        #expect(CachePolicy.allowsStale(stored, ifErrorOf: get(), now: later) == isAllowed)
    }

    // MARK: - Invalidation

    @Test(arguments: [
        (HTTPRequest.Method.post, 200, ["/a", "/b", "/c?d"]), (.put, 302, ["/a", "/b", "/c?d"]), (.delete, 404, []),
        (.get, 200, []),
    ]) func successfulUnsafeRequestInvalidates(method: HTTPRequest.Method, status: Int, targets: [String]) {
        let response = response([("Location", "/b"), ("Content-Location", "http://HOST:80/c?d#e")], status: status)
        #expect(CachePolicy.invalidatedTargets(by: response, to: get(method: method)) == targets)
    }

    @Test(arguments: ["http://other/b", "https://host/b", "http://host:81/b", "mailto:a@b", ""])
    func otherOriginsAreNotInvalidated(location: String) {
        let response = response([("Location", location)])
        #expect(Set(CachePolicy.invalidatedTargets(by: response, to: get(method: .post))) == ["/a"])
    }

    @Test(arguments: [
        ("https", "host", "\"cache\"", true), ("https", "host", "\"cookies\", \"cache\"", true),
        ("https", "host", "\"*\"", true),
        ("https", "host", "cache", false), ("http", "host", "\"cache\"", false),
        ("http", "127.0.0.1:80", "\"cache\"", true),
    ]) func clearSiteDataNeedsASecureOrigin(scheme: String, host: String, value: String, clears: Bool) {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: host, path: "/")
        #expect(CachePolicy.clearsOrigin(response([("Clear-Site-Data", value)]), to: request) == clears)
    }

    @Test func responseToPostIsStoredForGetIfItSaysSo() {
        let answer = [("Cache-Control", "max-age=60"), ("Content-Location", "/a")]
        #expect(CachePolicy.mayStore(response(answer), to: get(method: .post)))
        #expect(!CachePolicy.mayStore(response(answer), to: get(method: .post, path: "/b")))
        #expect(!CachePolicy.mayStore(response([("Content-Location", "/a")]), to: get(method: .post)))
        #expect(!CachePolicy.mayStore(response(answer), to: get(method: .put)))
    }
}
