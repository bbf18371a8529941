import Testing

@testable import BeagleNetHTTP

struct AuthenticationTests {
    private let credentials = Credentials(user: "Mufasa", password: "Circle of Life")

    private func request(_ fields: HTTPFields = [:], body: HTTPBody? = nil) -> TransferRequest {
        let head = HTTPRequest(method: .get, scheme: "https", authority: "h.org", path: "/", headerFields: fields)
        return TransferRequest(head, body: body)
    }

    @Test func credentialsAreEncoded() throws {
        // RFC 7617, 2 and 2.1.
        let aladdin = Authentication.basic(Credentials(user: "Aladdin", password: "open sesame"))
        #expect(try aladdin.field(for: request()) == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        let test = Authentication.basic(Credentials(user: "test", password: "123\u{A3}"))
        #expect(try test.field(for: request()) == "Basic dGVzdDoxMjPCow==")
        #expect(try Authentication.bearer("mF_9.B5f-4.1JqM=").field(for: request()) == "Bearer mF_9.B5f-4.1JqM=")
        #expect(try Authentication.digest(credentials).field(for: request()) == nil)
    }

    static let refused: [Authentication] = [
        .basic(Credentials(user: "a:b", password: "c")), .basic(Credentials(user: "a", password: "b\nc")),
        .basic(Credentials(user: "a\u{0}", password: "b")), .digest(Credentials(user: "a", password: "b\r\n")),
        .bearer(""), .bearer("a b"), .bearer("a\r\nX: y"), .bearer("="), .bearer("a=b"), .bearer("ü"),
    ]

    @Test(arguments: refused) func invalidCredentialsAreRejected(_ authentication: Authentication) throws {
        let error = #expect(throws: NetworkError.self) { try authentication.field(for: request()) }
        #expect(error?.kind == .badConfiguration)
        #expect(error?.message.hasPrefix("TransferOptions.authentication: ") == true)
    }

    @Test func authorizationFieldOfTheRequestIsAConflict() throws {
        let own = request([.authorization: "Bearer own"])
        for authentication in [Authentication.basic(credentials), .bearer("a"), .digest(credentials)] {
            let error = #expect(throws: NetworkError.self) { try authentication.field(for: own) }
            #expect(error?.message.contains("Authorization") == true)
        }
        #expect(try Authentication.netrc(path: "/nonexistent").field(for: own) == nil)
    }

    @Test func digestRequiresAReplayableBody() throws {
        let once = request(body: .stream { AsyncStream<Data> { $0.finish() } })
        let error = #expect(throws: NetworkError.self) { try Authentication.digest(credentials).field(for: once) }
        #expect(error?.message.contains("replay") == true)
    }

    @Test func secretsAreNotShown() {
        for authentication in Self.refused + [.netrc(path: "b\nc")] {
            var options = TransferOptions()
            options.authentication = authentication
            var dumped = ""
            dump(options, to: &dumped)
            for text in ["\(options)", String(reflecting: authentication), dumped] {
                #expect(!text.contains("a:b") && !text.contains("b\\nc") && !text.contains("X: y"), "\(text)")
            }
        }
    }

    // MARK: - Netrc

    private static let netrcCredentialsOfTheHostAreFoundArguments: [(String, String, String)] = [
        ("machine h.org login me password x", "me", "x"), ("machine h.org\n\tlogin me\n\tpassword x\n", "me", "x"),
        ("machine other login you password y machine h.org login me password x", "me", "x"),
        ("machine h.org login me password x machine h.org login you password y", "me", "x"),
        ("machine H.ORG password x login me", "me", "x"), ("default login me password x", "me", "x"),
        ("machine other login you password y\ndefault login me password x", "me", "x"),
        ("machine h.org account a login me password x", "me", "x"),
        ("machine h.org password x", "", "x"), ("machine h.org login me", "me", ""),
        ("machine h.org login \"m e\" password \"\\\"x\\t\\\\\"", "m e", "\"x\t\\"),
        ("# machine h.org login you\nmachine h.org login me # password y\npassword x", "me", "x"),
        ("macdef init\nmachine h.org login you\n\nmachine h.org login me password x", "me", "x"),
        ("machine h.org login me password #x\nmachine other login root password y", "me", "#x"),
        ("machine h.org login #me account #a password x#y # login you", "#me", "x#y"),
    ]

    @Test(arguments: Self.netrcCredentialsOfTheHostAreFoundArguments)
    func netrcCredentialsOfTheHostAreFound(_ text: String, _ user: String, _ password: String) {
        #expect(Netrc.credentials(for: "h.org", of: text) == Credentials(user: user, password: password))
    }

    private static let netrcHasNoCredentialsForAnUnknownHostArguments: [String] = [
        "", "machine", "machine h.org", "machine other login you password y", "login me password x",
        "machine h.org.evil login me password x", "macdef init\nmachine h.org login you", "\"", "machine h.org login",
    ]

    @Test(arguments: Self.netrcHasNoCredentialsForAnUnknownHostArguments)
    func netrcHasNoCredentialsForAnUnknownHost(_ text: String) {
        #expect(Netrc.credentials(for: "h.org", of: text) == nil)
    }

    @Test func errorNamesTheUnreadableFile() {
        let error = #expect(throws: NetworkError.self) {
            try Authentication.netrc(path: "/nonexistent/netrc").field(for: request())
        }
        #expect(error?.kind == .file)
        #expect(error?.message.contains("/nonexistent/netrc") == true)
    }
}
