@testable import BeagleNet
import BeagleNetTesting
import CurlPeers
import Testing

/// The rules for requests of screens.
@Suite(
    .leavesNothing,
    .beagle(.live) { $0.interceptors.add(CacheInterceptor(MemoryResponseStore())) },
    .timeLimit(.minutes(5))
)
struct ScreenRequestRulesTests {
    private typealias Rule = ScreenRequest.Rules.Refusal.Rule

    private static let screen = "https://api.example.com/home?token=secret"

    private let log = MemoryLogger()

    init() {
        let dependencies = Beagle.dependencies
        dependencies.logger = log
        dependencies.httpRequestBuilder.origins = [Origin(scheme: "https", host: "other.example")]
        dependencies.environment = BeagleEnvironment(name: "test", baseURL: URL(string: "https://api.example.com"))
    }

    private static func send(_ url: String, _ members: String = "") -> String {
        #"{"_beagleAction_": "beagle:sendRequest", "url": "\#(url)"\#(members.isEmpty ? "" : ", \(members)")}"#
    }

    private static func push(_ url: String, _ data: String = "{}") -> String {
        #"""
        {"_beagleAction_": "beagle:pushView", "route": {"url": "\#(url)", "httpAdditionalData": \#(data)}}
        """#
    }

    private static func nimbus(_ name: String, _ properties: String) -> String {
        #"{"_:action": "\#(name)", "properties": {\#(properties)}}"#
    }

    private func request(_ json: String, from screen: String? = Self.screen) throws -> Request? {
        let action = try #require(ScreenAction(try JSONValue(parsing: json)))
        return try action.request(in: ScreenContext(screen: screen))
    }

    /// Expects that an action is refused by a rule.
    private func expectRefusal(_ json: String, _ rule: Rule, from screen: String? = Self.screen) {
        let error = #expect(throws: NetworkError.self) { try request(json, from: screen) }
        #expect((error?.underlying as? ScreenRequest.Rules.Refusal)?.rule == rule)
    }

    // MARK: - Defaults

    private static let forbidden: [(String, String, String)] = [
        (send("ftp://api.example.com/a"), "scheme", "/url"),
        (send("http://api.example.com/a"), "downgrade", "/url"),
        (send("https://evil.example/a"), "host", "/url"),
        (send("https://api.example.com:8443/a"), "host", "/url"),
        (send("https://other.example/a", #""method": "post""#), "method", "/method"),
        (send("/a", #""headers": {"Authorization": "Bearer secret"}"#), "field", "/headers"),
        (push("https://evil.example/a"), "host", "/route/url"),
        (push("https://other.example/a", #"{"method": "DELETE"}"#), "method", "/route/httpAdditionalData/method"),
        (push("/a", #"{"headers": {"host": "evil.example"}}"#), "field", "/route/httpAdditionalData/headers"),
        (#"{"_beagleAction_": "beagle:navigate", "path": "https://evil.example/a"}"#, "host", "/path"),
        (nimbus("sendRequest", #""url": "https://other.example", "method": "PUT""#), "method", "/properties/method"),
        (nimbus("push", #""url": "https://evil.example/a""#), "host", "/properties/url"),
    ]

    @Test(arguments: Self.forbidden)
    func forbiddenRequestIsRefusedWithItsPlace(_ json: String, _ rule: String, _ pointer: String) throws {
        let error = #expect(throws: NetworkError.self) { try request(json) }
        #expect(error?.kind == .blocked && error?.mayHaveReachedServer == false)
        let refusal = try #require(error?.underlying as? ScreenRequest.Rules.Refusal)
        #expect(refusal.rule.rawValue == rule)
        #expect(refusal.pointer == pointer)
        #expect(refusal.screen.hasPrefix("https://api.example.com/home"))
        let text = "\(error?.message ?? "") \(error?.advice ?? "") \(refusal)"
        #expect(text.contains(pointer) && text.contains("https://api.example.com/home") && !text.contains("secret"))
        #expect(error?.advice != nil)
    }

    @Test(arguments: [
        send("/a", #""method": "DELETE", "headers": {"X-A": "1", "Accept": "text/plain"}"#),
        send("https://api.example.com/a", #""method": "PATCH""#), send("https://other.example/a"),
        send("https://other.example/a", #""method": "head""#), push("/a", #"{"method": "PUT", "body": {"a": 1}}"#),
        nimbus("push", #""url": "https://other.example/a""#),
    ])
    func usualRequestIsAllowed(_ json: String) throws {
        #expect(try request(json) != nil)
        #expect(try request(json, from: nil) != nil)
    }

    @Test(arguments: [
        "Cookie", "Proxy-Authorization", "Proxy-X", "Content-Length", "Transfer-Encoding", "Origin", "Referer",
        "Sec-Fetch-Site", "X-Api-Key", "X-HTTP-Method-Override", "Connection", "TE", "Upgrade", "Forwarded",
        "X-Forwarded-For", "Beagle-Capabilities",
    ])
    func guardedFieldIsRefusedUnlessItIsAllowed(_ name: String) throws {
        let json = Self.send("/a", #""headers": {"\#(name.lowercased())": "1"}"#)
        expectRefusal(json, .field)
        Beagle.dependencies.screenRequestRules.standard.fields = [try #require(HTTPField.Name(name))]
        #expect(try request(json) != nil)
    }

    @Test func fieldThatTheAppCallsSecretIsRefused() {
        Beagle.dependencies.redactor.secrets = ["x-session"]
        expectRefusal(Self.send("/a", #""headers": {"X-Session": "1"}"#), .field)
    }

    @Test func withoutDeclaredOriginsSafeRequestsAreAllowed() throws {
        Beagle.dependencies.httpRequestBuilder.origins = []
        Beagle.dependencies.environment = BeagleEnvironment(name: "test", baseURL: nil)
        #expect(try request(Self.send("http://any.example/a"), from: nil) != nil)
        expectRefusal(Self.send("http://any.example/a", #""method": "POST""#), .method, from: nil)
    }

    /// A screen of another origin isn't one of the app's.
    @Test func screenOfAnotherOriginHasItsOwnOriginOnly() throws {
        let foreign = "https://foreign.example/a"
        #expect(try request(Self.send("https://foreign.example/b", #""method": "POST""#), from: foreign) != nil)
        #expect(try request(Self.send("/a"), from: foreign) != nil)
        expectRefusal(Self.send("/a", #""method": "POST""#), .method, from: foreign)
    }

    // MARK: - Permissions

    @Test func hostIsAllowedWithItsMethods() throws {
        Beagle.dependencies.screenRequestRules.standard.hosts = ["pay.example": [.post], "other.example": [.put]]
        #expect(try request(Self.send("https://PAY.example:8443/a", #""method": "POST""#)) != nil)
        expectRefusal(Self.send("https://pay.example/a"), .method)
        #expect(try request(Self.send("https://other.example/a", #""method": "PUT""#)) != nil)
        expectRefusal(Self.send("https://sub.pay.example/a", #""method": "POST""#), .host)
    }

    @Test func permissionsBelongToTheOriginOfTheScreen() throws {
        var permissions = ScreenRequest.Rules.Permissions()
        permissions.ownMethods = [.get]
        permissions.allowsDowngrade = true
        permissions.otherMethods = [.delete]
        Beagle.dependencies.screenRequestRules.origins[Origin(scheme: "https", host: "other.example")] = permissions
        Beagle.dependencies.screenRequestRules.standard.schemes = ["http"]
        let screen = "https://other.example/home"
        expectRefusal(Self.send("https://other.example/a", #""method": "POST""#), .method, from: screen)
        #expect(try request(Self.send("/a", #""method": "DELETE""#), from: screen) != nil)
        expectRefusal(Self.send("http://other.example/a"), .host, from: screen)
        expectRefusal(Self.send("/a"), .scheme)
    }

    // MARK: - Places

    @Test func nestedActionKnowsItsPlace() throws {
        let json = Self.send("/a", #""onSuccess": [{"_:no": 1}, \#(Self.send("ftp://a"))]"#)
        let action = try #require(ScreenAction(try JSONValue(parsing: json), at: "/child/onPress/0"))
        let next = try #require(action.actions(of: "onSuccess").first)
        #expect(next.pointer == "/child/onPress/0/onSuccess/1")
        let error = #expect(throws: NetworkError.self) { try next.request(in: ScreenContext()) }
        #expect((error?.underlying as? ScreenRequest.Rules.Refusal)?.pointer == "/child/onPress/0/onSuccess/1/url")
    }

    private static let simpleForm = """
        {"_beagleComponent_": "beagle:screenComponent", "a/b": [{"_beagleComponent_": "beagle:simpleForm",
         "onSubmit": [{"_beagleAction_": "beagle:alert"}, {"_beagleAction_": "beagle:sendRequest",
          "url": "https://other.example/f", "method": "PATCH", "data": {"a": "1"}}]}]}
        """
    private static let form = """
        {"_beagleComponent_": "beagle:form", "onSubmit": {"_beagleAction_": "beagle:formRemoteAction",
         "path": "https://evil.example/f"}}
        """

    @Test(arguments: [(simpleForm, "method", "/a~1b/0/onSubmit/1/method"), (form, "host", "/onSubmit/path")])
    func formIsRefused(_ json: String, _ rule: String, _ pointer: String) throws {
        let json = try JSONValue(parsing: json)
        let context = ScreenContext(screen: Self.screen)
        let error = #expect(throws: NetworkError.self) { try ScreenForm.forms(in: json, context: context) }
        let refusal = error?.underlying as? ScreenRequest.Rules.Refusal
        #expect(refusal?.rule.rawValue == rule)
        #expect(refusal?.pointer == pointer)
        Beagle.dependencies.screenRequestRules.standard.hosts = [
            "other.example": [.patch], "evil.example": [.post],
        ]
        let screen = try #require(try ScreenForm.forms(in: json, context: context).first)
        #expect(try screen.request().url.absoluteString == screen.target)
        Beagle.dependencies.screenRequestRules = ScreenRequest.Rules()
        #expect(throws: NetworkError.self) { try screen.request() }
    }

    /// A screen with references to another server.
    private func serve(_ other: LoopbackServer) throws -> LoopbackServer {
        let image = ScreenFixture.image(other.url + "/image.gif")
        let lazy = ScreenFixture.component("beagle:lazyComponent", #""path": "\#(other.url)/lazy""#)
        let data = #"{"headers": {"Cookie": "a"}}"#
        let route = #""route": {"url": "/next", "shouldPrefetch": true, "httpAdditionalData": \#(data)}"#
        let screen = ScreenFixture.container("\(image), \(lazy), \(ScreenFixture.button("beagle:pushView", route))")
        let server = try LoopbackServer { _ in .response(200, ["Content-Type": "application/json"], screen) }
        Beagle.dependencies.environment = BeagleEnvironment(name: "test", baseURL: URL(string: server.url))
        return server
    }

    @Test(arguments: [true, false]) func prefetchLeavesForbiddenReferencesOut(_ allowsImages: Bool) async throws {
        let other = try LoopbackServer { _ in .response(200, ["Content-Type": "image/gif"], "GIF89a") }
        let server = try serve(other)
        Beagle.dependencies.screenRequestRules.standard.allowsImagesOfAllHosts = allowsImages
        let views = ViewClient()
        let fetched = try await views.fetch("/home", as: JSONValue.self)
        let plan = try ParsedScreen(parsing: fetched.response.data).plan
        let images = ImageLoader.Prefetcher(ImageLoader())
        #expect(views.prefetch(plan, screen: fetched.response.url, images: images) == 0)
        while views.pendingCount + images.pendingCount > 0 { await Task.yield() }
        #expect(other.requests.map(\.target) == (allowsImages ? ["/image.gif"] : []))
        #expect(server.requests.map(\.target) == ["/home"])
        #expect(log.messages.filter { $0.contains("isn't prefetched") }.count == (allowsImages ? 2 : 3))
    }

    @Test func offlineSetListsForbiddenReferencesAsMissing() async throws {
        let other = try LoopbackServer { _ in .response(200, ["Content-Type": "image/gif"], "GIF89a") }
        let server = try serve(other)
        let set = ViewClient.OfflineSet("set", routes: [ScreenRequest("/home")])
        try await set.refresh()
        #expect(set.missing.map(\.kind) == [.lazy, .route])
        #expect(set.missing.allSatisfy { $0.error.kind == .blocked && $0.parent == "/home" })
        #expect(other.requests.map(\.target) == ["/image.gif"])
        #expect(server.requests.map(\.target) == ["/home"])
    }
}
