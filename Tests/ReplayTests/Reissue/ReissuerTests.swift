import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

@testable import BeagleNetReplay

@Suite(.leavesNothing) struct ReissuerTests {
    private func entry(
        _ target: String,
        _ method: String = "GET",
        id: String = "",
        status: Int = 200,
        _ body: String = "",
        type: String = "application/json",
        fields: [LogEntry.Field] = []
    ) -> LogEntry {
        LogEntry(
            id: id,
            started: Date(timeIntervalSince1970: 0),
            request: LogEntry.Request(method: method, url: "https://api.example.com\(target)"),
            response: LogEntry.Response(
                status: status,
                fields: [LogEntry.Field("Content-Type", type)] + fields,
                body: LogEntry.Body(.data(Data(body.utf8)), mediaType: type)
            )
        )
    }

    private func reissuer(to server: LoopbackServer, clock: any Clock<Duration> = ContinuousClock()) throws -> Reissuer
    {
        Reissuer(to: try Reissuer.Target(server.url), clock: clock)
    }

    private func words(_ report: Reissuer.ComparisonReport) -> [String] {
        report.entries.map { entry in
            switch entry.outcome {
            case .same: "same"
            case .unchecked(let reason): reason
            case .different(let differences): differences.list.map(\.description).joined(separator: ", ")
            case .failed(let error): error.kind.rawValue
            case .skipped(let reason): reason
            }
        }
    }

    @Test func changedServerDiffersFromTheRecording() async throws {
        let recording = Recording([
            entry("/a", "GET", #"{"a":1}"#), entry("/b?c=d", "GET", #"[1,2]"#),
            entry("/gone", "GET", "x", type: "text/html"),
        ])
        let same = try LoopbackServer { request in
            switch request.target {
            case "/a": .response(200, ["Content-Type": "application/json", "Date": "now"], #"{"a" : 1.0}"#)
            case "/b?c=d": .response(200, ["content-type": "application/json"], "[1,2]")
            default: .response(200, ["Content-Type": "text/html"], "x")
            }
        }
        let changed = try LoopbackServer { request in
            request.target == "/a"
                ? .response(200, ["Content-Type": "application/json"], #"{"a":2}"#)
                : .response(404, ["Content-Type": "application/json"], "[1,2]")
        }
        let report = try await reissuer(to: same).compare(recording)
        #expect(report.isSame)
        #expect(words(report) == ["same", "same", "same"])
        #expect(report.summary == "3 same, 0 different, 0 failed, 0 skipped")

        let other = try await reissuer(to: changed).compare(recording)
        #expect(!other.isSame)
        #expect(
            words(other) == [
                "$.a: 1 → 2", "status: 200 → 404",
                "status: 200 → 404, headers.Content-Type: text/html → application/json, body line 1: x → [1,2]",
            ]
        )
        #expect(other.entries.map(\.url) == ["\(changed.url)/a", "\(changed.url)/b?c=d", "\(changed.url)/gone"])
        #expect(other.entries.allSatisfy { $0.latency > .zero })
    }

    private static let uncheckedBodyIsNotCountedAsSameArguments: [LogEntry.Body] = [
        LogEntry.Body(.omitted("unredactable")), LogEntry.Body(.omitted("unknown")),
        LogEntry.Body(.file("bodies/none")),
        LogEntry.Body(.file("../secret")), LogEntry.Body(.data(Data("[1".utf8)), isTruncated: true),
    ]

    /// A missing body must not count as equal.
    @Test(arguments: Self.uncheckedBodyIsNotCountedAsSameArguments)
    func uncheckedBodyIsNotCountedAsSame(_ body: LogEntry.Body) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "[1]"))
        var cut = entry("/a")
        cut.response?.body = body
        let recording = Recording([cut, entry("/b", "GET", "[1]")], directory: "/nowhere")
        var reissuer = try reissuer(to: server)
        let report = try await reissuer.compare(recording)
        #expect(!report.isSame)
        #expect(report.unchecked == 1 && report.same == 1)
        #expect(words(report).first?.hasPrefix("the body was not compared: ") == true)
        reissuer.allowsMissingBodies = true
        #expect(try await reissuer.compare(recording).isSame)
        cut.response?.status = 201
        #expect(try await reissuer.compare(Recording([cut])).different == 1)
    }

    @Test func bodylessResponsesAreCompared() async throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/old": .response(302, ["Location": "/new"], "moved")
            case "/none": .response(204)
            default: .response(200)
            }
        }
        var entries = [
            entry("/none", status: 204), entry("/old", status: 302), entry("/head", "HEAD"), entry("/empty"),
        ]
        for index in entries.indices {
            entries[index].response?.fields = index == 1 ? [LogEntry.Field("Location", "/new")] : []
            let size: Int64 = index == 3 ? 0 : -1
            entries[index].response?.body = LogEntry.Body(.omitted(index == 1 ? "not read" : "unknown"), size: size)
        }
        let report = try await reissuer(to: server).compare(Recording(entries))
        #expect(words(report) == ["same", "same", "same", "same"])
        #expect(report.isSame)
    }

    @Test func requestsAreSentAsRecorded() async throws {
        var post = entry("/form?x=%20", "POST")
        post.request.fields = [
            LogEntry.Field("x-B", "2"), LogEntry.Field("X-a", "1"), LogEntry.Field("Content-Type", "text/plain"),
        ]
        post.request.body = LogEntry.Body(.data(Data([0, 255])))
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], ""))
        var reissuer = try reissuer(to: server)
        #expect(words(try await reissuer.compare(Recording([post]))).first?.contains("unsafe methods") == true)
        #expect(server.requests.isEmpty)
        reissuer.allowsUnsafeMethods = true
        #expect(try await reissuer.compare(Recording([post])).isSame)
        let sent = try #require(server.requests.first)
        #expect(sent.method == "POST")
        #expect(sent.target == "/form?x=%20")
        #expect(sent.body == Data([0, 255]))
        #expect(sent.fields.prefix { $0.name != "Host" }.isEmpty)
        #expect(sent.values(of: "x-a") == ["1"])
        #expect(sent["Cookie"] == nil)
    }

    @Test func redirectHopsAreSentUnlessRedirectsAreFollowed() async throws {
        let first = entry(
            "/old",
            id: "1",
            status: 302,
            fields: [LogEntry.Field("Location", "https://api.example.com/new")]
        )
        var second = entry("/new", id: "2", "[1]")
        (second.redirects, second.parent) = (1, "1")
        let server = try LoopbackServer { request in
            let host = request["Host"] ?? ""
            return request.target == "/old"
                ? .response(302, ["Content-Type": "application/json", "Location": "http://\(host)/new"])
                : .response(200, ["Content-Type": "application/json"], "[1]")
        }
        var reissuer = try reissuer(to: server)
        #expect(words(try await reissuer.compare(Recording([first, second]))) == ["same", "same"])
        #expect(server.requests.map(\.target) == ["/old", "/new"])
        reissuer.followsRedirects = true
        #expect(words(try await reissuer.compare(Recording([first, second]))) == ["same"])
        #expect(server.requests.map(\.target) == ["/old", "/new", "/old", "/new"])
    }

    @Test func redirectToTheRecordedHostDiffers() async throws {
        let recorded = entry(
            "/old",
            status: 302,
            fields: [LogEntry.Field("Location", "https://api.example.com/new?token=canary")]
        )
        let location = "https://api.example.com/new?token=canary"
        let server = try LoopbackServer(.response(302, ["Content-Type": "application/json", "Location": location]))
        let words = try await words(reissuer(to: server).compare(Recording([recorded])))
        #expect(
            words == [
                "headers.Location: \(server.url)/new?token=REDACTED → https://api.example.com/new?token=REDACTED"
            ]
        )
    }

    @Test func redirectToAThirdPartyIsTheSame() async throws {
        let location = LogEntry.Field("Location", "https://accounts.example.org/o?a=1")
        let recorded = entry("/login", status: 302, fields: [location])
        let server = try LoopbackServer(
            .response(302, ["Content-Type": "application/json", "Location": location.value])
        )
        #expect(try await words(reissuer(to: server).compare(Recording([recorded]))) == ["same"])
    }

    @Test func hopWithoutItsRedirectInTheRecordingIsSent() async throws {
        var hop = entry("/new", id: "2", "[1]")
        (hop.redirects, hop.parent) = (1, "1")
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "[1]"))
        var reissuer = try reissuer(to: server)
        reissuer.followsRedirects = true
        #expect(words(try await reissuer.compare(Recording([hop]))) == ["same"])
        #expect(server.requests.map(\.target) == ["/new"])
    }

    @Test func redirectsToOtherHostsGetNoSecretsAndNoUnsafeMethods() async throws {
        let other = try LoopbackServer(.response(200, ["Content-Type": "application/json"], "[1]"))
        let server = try LoopbackServer(.response(307, ["Location": "\(other.url)/there"]))
        var reissuer = try reissuer(to: server)
        (reissuer.followsRedirects, reissuer.allowsUnsafeMethods) = (true, true)
        reissuer.headers = [Reissuer.HeaderMapping(try #require(HTTPField.Name("X-Plan")), "canary")]
        var (get, post) = (entry("/a", "GET", "[1]"), entry("/b", "POST", "[1]"))
        get.request.fields = [LogEntry.Field("X-Plain", "kept")]
        post.request.body = LogEntry.Body(.data(Data("1".utf8)))
        let report = try await reissuer.compare(Recording([get, post]))
        #expect(server.requests.map { $0["X-Plan"] } == ["canary", "canary"])
        #expect(other.requests.map(\.target) == ["/there"], "unsafe requests are not redirected to other hosts")
        #expect(other.requests.map { $0["X-Plan"] } == [nil])
        #expect(other.requests.map { $0["X-Plain"] } == ["kept"])
        #expect(words(report).first == "same")
        #expect(words(report).last?.hasPrefix("status: 200 → 307") == true)

        reissuer.hosts = ["named": try Reissuer.Target(other.url)]
        #expect(try await words(reissuer.compare(Recording([post]))) == ["same"])
    }

    @Test func hostsMayHaveTheirOwnTargets() async throws {
        let (api, cdn) = (try LoopbackServer(.response(200)), try LoopbackServer(.response(200)))
        var image = entry("/i.png")
        image.request.url = "https://cdn.example.com/i.png"
        image.request.fields = []
        var reissuer = Reissuer(to: nil)
        reissuer.hosts = ["cdn.example.com": try Reissuer.Target(cdn.url)]
        reissuer.headers = [Reissuer.HeaderMapping(.authorization, "canary")]
        let report = try await reissuer.compare(Recording([entry("/a"), image]))
        #expect(report.skipped == 1)
        #expect(words(report).first == "no target is set for requests to api.example.com; add one")
        reissuer.target = try Reissuer.Target(api.url)
        _ = try await reissuer.compare(Recording([entry("/a"), image]))
        #expect(api.requests.map { $0["Authorization"] } == ["canary"])
        #expect(cdn.requests.map { $0["Authorization"] } == [nil, nil])
    }

    @Test func lostConnectionIsAnErrorOfItsEntry() async throws {
        let server = try LoopbackServer { request in
            request.target == "/cut" ? .close : .response(200, ["Content-Type": "application/json"], "1")
        }
        let report = try await reissuer(to: server).compare(
            Recording([entry("/cut", "GET", "1"), entry("/", "GET", "1")])
        )
        #expect(words(report) == ["network", "same"])
        #expect(!report.isSame)
        #expect(report.error?.kind == .network)
    }

    @Test func entryWithoutAComparableResponseIsSkipped() async throws {
        let server = try LoopbackServer(.response(200))
        var (unanswered, failed) = (entry("/a"), entry("/b", status: 0))
        unanswered.response = nil
        failed.error = "timeout"
        let stream = entry("/s", type: "text/event-stream; charset=utf-8")
        let report = try await reissuer(to: server).compare(Recording([unanswered, failed, stream]))
        #expect(report.skipped == 3)
        #expect(!report.isSame, "nothing was compared")
        #expect(server.requests.isEmpty)
    }

    @Test func entriesAreSelectedByMethodAndFilter() async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"]))
        let recording = Recording([entry("/a"), entry("/b", "HEAD"), entry("/c")])
        var reissuer = try reissuer(to: server)
        reissuer.methods = ["GET"]
        reissuer.filter = { !$0.request.url.hasSuffix("/c") }
        reissuer.repeats = 2
        let report = try await reissuer.compare(recording)
        #expect(report.entries.map(\.repetition) == [1, 2])
        #expect(report.isSame)
        #expect(server.requests.map(\.target) == ["/a", "/a"])
    }

    @Test func invalidSettingsAreErrors() async throws {
        let server = try LoopbackServer(.response(200))
        let recording = Recording([entry("/")])
        let changes: [(inout Reissuer) -> Void] = [
            { $0.concurrency = 0 }, { $0.repeats = 0 }, { $0.rate = 0 }, { $0.rate = .infinity }, { $0.rate = .nan },
            { $0.rate = 1e-30 },
            { $0.methods = [] }, { $0.filter = { _ in false } },
        ]
        for change in changes {
            var reissuer = try reissuer(to: server)
            change(&reissuer)
            let error = await #expect(throws: NetworkError.self) { try await reissuer.compare(recording) }
            #expect(error?.kind == .badConfiguration)
        }
        let error = await #expect(throws: NetworkError.self) { try await reissuer(to: server).load(Recording([])) }
        #expect(error?.message == "the recording has no entries")
        #expect(server.requests.isEmpty)
    }

    @Test func cancellingEndsTheComparison() async throws {
        let server = try LoopbackServer(.stall)
        let reissuer = try reissuer(to: server)
        let recording = Recording([entry("/a"), entry("/b")])
        let task = Task { try await reissuer.compare(recording) }
        await server.until { $0.requestCount == 1 }
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        #expect(server.requests.count == 1)
    }

    @Test func requestsAreSentConcurrently() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try LoopbackServer { _ in
            .sequence([.gate(gate), .response(200, ["Content-Type": "application/json"])])
        }
        var reissuer = try reissuer(to: server)
        reissuer.concurrency = 3
        let recording = Recording((0..<9).map { entry("/\($0)") })
        let task = Task { [reissuer] in try await reissuer.compare(recording) }
        await server.until { $0.requestCount == 3 }
        gate.open()
        #expect(try await task.value.same == 9)
        #expect(server.record.connections == 3)
    }

    @Test(arguments: [Reissuer.Order.connection, .page])
    func orderIsKeptPerConnectionOrPage(_ order: Reissuer.Order) async throws {
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"]))
        let recording = Recording(
            (0..<40).map { number in
                var entry = entry("/\(number % 4)/\(number)")
                entry.connection = "\(number % 4)"
                entry.unknownMembers = [
                    LogEntry.UnknownMember(place: "", name: "pageref", json: "\"page_\(number % 4)\"")
                ]
                return entry
            }
        )
        var reissuer = try reissuer(to: server)
        (reissuer.order, reissuer.concurrency) = (order, 4)
        #expect(try await reissuer.compare(recording).isSame)
        for lane in 0..<4 {
            let targets = server.requests.map(\.target).filter { $0.hasPrefix("/\(lane)/") }
            #expect(targets == (0..<10).map { "/\(lane)/\($0 * 4 + lane)" })
        }
    }

    @Test func rateSchedulesRequests() async throws {
        let clock = ManualClock()
        let server = try LoopbackServer(.response(200, ["Content-Type": "application/json"]))
        var reissuer = try reissuer(to: server, clock: clock)
        reissuer.rate = 10
        let recording = Recording((0..<3).map { entry("/\($0)") })
        let task = Task { [reissuer] in try await reissuer.load(recording) }
        await server.until { $0.requestCount == 1 }
        await clock.waitForSleepers(1)
        #expect(clock.nextWait == .milliseconds(100))
        // Late by 150 ms: the second request was due at 100, the third at 200.
        clock.advance(by: .milliseconds(250))
        let report = try await task.value
        #expect(report.latency.count == 3)
        #expect(report.latency.longest == .milliseconds(150), "latency counts from the time when a request was due")
        #expect(report.duration == .milliseconds(250))
        #expect(report.throughput == 12)
    }

    @Test func loadIsMeasuredByKind() async throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/cut": .close
            case "/bad": .response(500)
            default: .response(200, [:], "x")
            }
        }
        var (screen, image) = (entry("/a"), entry("/b"))
        (screen.kind, image.kind) = ("component", "image")
        var reissuer = try reissuer(to: server)
        (reissuer.repeats, reissuer.concurrency) = (5, 2)
        let recording = Recording([screen, image, entry("/bad"), entry("/cut"), entry("/form", "POST")])
        let report = try await reissuer.load(recording)
        #expect(report.latency.count == 15)
        #expect(report.latencyByKind.mapValues(\.count) == ["component": 5, "image": 5, "request": 5])
        #expect(report.statuses == [200: 10, 500: 5])
        #expect(report.errors == [.network: 5])
        #expect(report.failed == 5)
        #expect(report.skipped.map(\.method) == ["POST"])
        #expect(report.error?.kind == .network)
        #expect(report.description.contains("  failed, network: 5\n"))
        #expect(report.json["latencyMsByKind"]?["image"]?["count"] == 5)
    }
}
