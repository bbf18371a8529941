@testable import BeagleNet
import BeagleNetTesting
import CurlPeers
import Testing

/// The declaration of an app's components and actions, over libcurl and real sockets.
@Suite(
    .leavesNothing,
    .beagle(.live) {
        $0.interceptors.add(CacheInterceptor(MemoryResponseStore()))
        $0.interceptors.removeAll { $0 is RetryInterceptor }
    },
    .timeLimit(.minutes(5))
)
struct ScreenCapabilitiesTests {
    private static let hashField = "Beagle-Capabilities"
    private static let listField = "Beagle-Capability-List"
    private static let list = #"components=("beagle:text" "custom:avatar";v="2"), actions=("beagle:pushView")"#

    private let views = ViewClient()
    /// Servers end when they are released.
    private let servers = Lock<[LoopbackServer]>([])
    private let findings = Lock<[ScreenCapabilities.Finding]>([])

    private func server(
        isDeclared: Bool = true,
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in
            .response(200, ["Cache-Control": "max-age=60"], "{}")
        }
    ) throws -> LoopbackServer {
        let server = try LoopbackServer(answer: answer)
        servers.withLock { $0.append(server) }
        if isDeclared {
            Beagle.dependencies.environment = BeagleEnvironment(name: "test", baseURL: URL(string: server.url))
        }
        return server
    }

    @discardableResult
    private func declare(
        _ components: [ScreenCapabilities.Name] = [.init("custom:avatar", version: "2"), "beagle:text", "beagle:text"],
        actions: [ScreenCapabilities.Name] = ["beagle:pushView"]
    ) throws -> ScreenCapabilities {
        let findings = findings
        let capabilities = try ScreenCapabilities(components: components, actions: actions) { finding in
            findings.withLock { $0.append(finding) }
        }
        Beagle.dependencies.screenCapabilities = capabilities
        return capabilities
    }

    private func fetch(_ target: String, _ policy: RequestPolicy? = nil) async throws
        -> ViewClient.FetchedScreen<JSONValue>
    {
        try await views.fetch(ScreenRequest(target, policy: policy), as: JSONValue.self)
    }

    // MARK: - The hash

    @Test func hashIsThatOfTheSortedList() throws {
        let capabilities = try declare()
        #expect(capabilities.list == Self.list)
        #expect(capabilities.hash == "sha-256=:4bqIZN0z1vNAdFQRM6U1aXB3KjlecHJT55JSzynEXzw=:")
        #expect(try declare(["beagle:text"]).hash != capabilities.hash)
        #expect(try declare([#"a"\b"#], actions: []).list == #"components=("a\"\\b"), actions=()"#)
    }

    @Test func hashIsSentWithScreensOfDeclaredOriginsOnly() async throws {
        let server = try server()
        let other = try self.server(isDeclared: false)
        _ = try await fetch("/before")
        let hash = try declare().hash
        _ = try await fetch("/screen")
        _ = try await fetch(other.url + "/screen")
        let client = Beagle.dependencies.networkClient
        _ = try await client.submit(Request.FormData(method: .post, values: [:]), to: server.url + "/form")
        #expect(server.requests.map { $0[Self.hashField] } == [nil, hash, nil])
        #expect(other.requests.map { $0[Self.hashField] } == [nil])
    }

    @Test func hashAndListStayBehindAtARedirectToAnotherOrigin() async throws {
        let other = try server(isDeclared: false)
        let server = try server { [url = other.url] request in
            request[Self.listField] == nil
                ? .response(428, [Self.listField: "?1"]) : .response(302, ["Location": url + "/screen"])
        }
        try declare()
        _ = try await fetch("/screen")
        #expect(server.requests.count == 2)
        #expect(other.requests.map { $0[Self.hashField] ?? $0[Self.listField] } == [nil])
    }

    // MARK: - The list

    @Test func serverThatDoesNotKnowTheHashReceivesTheList() async throws {
        let known = Lock<Set<String>>([])
        let server = try server { request in
            let hash = request[Self.hashField] ?? ""
            if request[Self.listField] != nil { known.withLock { _ = $0.insert(hash) } }
            return known.withLock { $0.contains(hash) }
                ? .response(200, ["Cache-Control": "max-age=60"], "{}") : .response(428, [Self.listField: "?1"])
        }
        let hash = try declare().hash
        _ = try await fetch("/a")
        _ = try await fetch("/b")
        #expect(try await fetch("/a", .cacheFirst).source == .cache)
        #expect(server.requests.map(\.target) == ["/a", "/a", "/b"])
        #expect(server.requests.map { $0[Self.listField] } == [nil, Self.list, nil])
        #expect(server.requests.allSatisfy { $0[Self.hashField] == hash })
        // A server that has forgotten the hash, as after a restart, receives the list again.
        known.withLock { $0.removeAll() }
        _ = try await fetch("/c")
        #expect(server.requests.last?[Self.listField] == Self.list)
    }

    @Test func serverThatAsksForTheListAlthoughItHasItDoesNotReceiveItAgain() async throws {
        let server = try server { _ in .response(428, [Self.listField: "?1"]) }
        try declare()
        for path in ["/a", "/b"] {
            let error = await #expect(throws: NetworkError.self) { try await fetch(path) }
            #expect(error?.response?.status.code == 428)
        }
        #expect(server.requests.map { $0[Self.listField] } == [nil, Self.list, nil])
    }

    @Test(arguments: [(428, "?0"), (428, ""), (412, "?1")])
    func otherResponseDoesNotRequestTheList(_ status: Int, _ value: String) async throws {
        let server = try server { _ in .response(status, value.isEmpty ? [:] : [Self.listField: value]) }
        try declare()
        await #expect(throws: NetworkError.self) { try await fetch("/a") }
        #expect(server.requests.count == 1)
    }

    @Test func anotherOriginCannotAskForTheList() async throws {
        let other = try server(isDeclared: false) { _ in .response(428, [Self.listField: "?1"]) }
        let server = try server { [url = other.url] _ in .response(302, ["Location": url + "/screen"]) }
        try declare()
        await #expect(throws: NetworkError.self) { try await fetch("/screen") }
        #expect(server.requests.count == 1)
        #expect(other.requests.count == 1)
    }

    @Test func listThatIsTooLargeIsNotSent() async throws {
        let server = try server { _ in .response(428, [Self.listField: "?1"]) }
        let log = MemoryLogger()
        Beagle.dependencies.logger = log
        try declare((0..<1_000).map { ScreenCapabilities.Name("custom:component\($0)") })
        for _ in 0..<2 { await #expect(throws: NetworkError.self) { try await fetch("/a") } }
        #expect(server.requests.map { $0[Self.listField] } == [nil, nil])
        #expect(log.messages.filter { $0.contains("list of capabilities") }.count == 1)
    }

    @Test(arguments: ["", "é", "a\nb", String(repeating: "a", count: 129)])
    func invalidNameIsRejected(_ name: String) {
        for bad in [ScreenCapabilities.Name(name), .init("a", version: name)] {
            let error = #expect(throws: NetworkError.self) { try declare([bad]) }
            #expect(error?.kind == .badConfiguration)
        }
    }

    @Test func tooManyNamesAreRejected() {
        let names = (0...ScreenCapabilities.maxNames).map { ScreenCapabilities.Name("a\($0)") }
        #expect(throws: NetworkError.self) { try declare(names, actions: []) }
    }

    // MARK: - Stored and prefetched screens

    @Test func versionsOfAnAppDoNotShareStoredScreens() async throws {
        let server = try server()
        _ = try await fetch("/a", .cacheFirst)
        for (names, source) in [("1", NetworkOperation.Result.Source.network), ("2", .network), ("1", .cache)] {
            try declare([.init("custom:avatar", version: names)])
            #expect(try await fetch("/a", .cacheFirst).source == source)
        }
        #expect(server.requests.count == 3)
    }

    @Test func screenForKnownCapabilitiesMayOutliveTheProcess() async throws {
        _ = try server()
        let keys = KeyObserver()
        Beagle.dependencies.interceptors.insert(keys, at: 0)
        try declare()
        _ = try await fetch("/a")
        #expect(keys.isPersistent.withLock { $0 } == [true])
    }

    @Test func prefetchedScreenIsNotUsedWithOtherCapabilities() async throws {
        let server = try server { _ in .response(200, [:], "{}") }
        try declare()
        for isChanged in [false, true] {
            #expect(views.prefetch(ScreenRequest("/a")))
            while views.pendingCount > 0 { await Task.yield() }
            if isChanged { try declare(["beagle:image"]) }
            #expect(try await fetch("/a").wasPrefetched == !isChanged)
        }
        #expect(server.requests.count == 3)
    }

    // MARK: - Findings

    @Test func unknownComponentsAndActionsAreReportedOnce() async throws {
        let screen = """
            {"_beagleComponent_": "beagle:Text", "context": {"id": "a", "value": {"_beagleComponent_": "custom:data"}},
             "children": [{"_beagleComponent_": "custom:map"}, {"_beagleComponent_": "custom:map", "onPress": [
              {"_beagleAction_": "beagle:pushView"}, {"_beagleAction_": "custom:pay"}]}]}
            """
        let server = try server { _ in .response(200, [:], screen) }
        let log = MemoryLogger()
        Beagle.dependencies.logger = log
        try declare()
        for path in ["/a?token=secret", "/b"] { _ = try await fetch(path) }
        let found = findings.withLock { $0 }
        #expect(found.map(\.kind) == [.unknownComponent, .unknownAction])
        #expect(found.map(\.name) == ["custom:map", "custom:pay"])
        #expect(found.first?.screen.hasPrefix(server.url + "/a") == true)
        #expect(found.first?.screen.contains("secret") == false)
        #expect(log.messages.filter { $0.contains("custom:map") }.count == 1)
    }

    @Test func numberOfReportedNamesIsLimited() async throws {
        let children = (0..<1_100).map { #"{"_beagleComponent_": "custom:\#($0)"}"# }.joined(separator: ",")
        _ = try server { _ in .response(200, [:], "[\(children)]") }
        try declare()
        _ = try await fetch("/a")
        #expect(findings.withLock { $0 }.count == 1_000)
    }

    @Test func takenFallbackIsReportedOnce() throws {
        try declare()
        let error = NetworkError(.status, during: .response, "the status is 500")
        let push = try JSONValue(
            parsing: #"{"_beagleAction_": "beagle:pushView", "route": {"url": "/a", "fallback": {"id": 1}}}"#
        )
        let nimbus = try JSONValue(
            parsing: #"{"_:action": "push", "properties": {"url": "/a", "fallback": {"id": 2}}}"#
        )
        for json in [push, push, nimbus] {
            let action = try #require(ScreenAction(json))
            #expect(views.fallback(of: action, after: .cancelledBeforeStart) == nil)
            #expect(views.fallback(of: action, after: error)?["id"] != nil)
        }
        let found = findings.withLock { $0 }
        #expect(found.map(\.kind) == [.fallback, .fallback])
        #expect(found.map(\.name) == ["beagle:pushView", "push"])
        let plain = try #require(ScreenAction(["_beagleAction_": "beagle:pushView", "route": ["url": "/a"]]))
        #expect(views.fallback(of: plain, after: error) == nil)
    }
}

/// An observer of the keys under which responses are stored.
private struct KeyObserver: RequestObserver {
    let isPersistent = Lock<[Bool?]>([])

    func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        let key = operation.responseKey?.isPersistent
        isPersistent.withLock { $0.append(key) }
        return nil
    }
}
