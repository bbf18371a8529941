import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Redirects that the app decides on.
@Suite(.leavesNothing, .timeLimit(.minutes(5)))
struct RedirectPolicyTests {
    typealias Decision = TransferOptions.RedirectPolicy.Decision
    typealias Proposal = TransferOptions.RedirectPolicy.Proposal

    let transport = CurlTransport()
    let credentials: KeyValuePairs = ["Authorization": "Bearer secret", "X-Open": "open"]

    private func redirecting(to location: String, _ status: Int = 302) throws -> LoopbackServer {
        try LoopbackServer { request in
            request.target == "/from"
                ? .response(status, ["Location": location], "moved") : .response(200, [:], request.target)
        }
    }

    private func options(_ decide: @escaping @Sendable (Proposal) -> Decision) -> TransferOptions {
        var options = TransferOptions.limited
        options.redirects = .follow.deciding(decide)
        return options
    }

    @Test func policyReceivesTheResponseAndTheProposedRequest() async throws {
        let seen = Lock<Proposal?>(nil)
        let other = try LoopbackServer(.response(200, [:], "there"))
        let server = try redirecting(to: "\(other.url)/to?x=1")
        let options = options { proposal in
            seen.withLock { $0 = proposal }
            return .follow
        }
        let request = try server.request(.post, "/from", credentials, body: HTTPBody("text"), options: options)
        #expect(try await transport.perform(request).text() == "there")
        let proposal = try #require(seen.withLock { $0 })
        #expect(proposal.response.status.code == 302)
        #expect(proposal.redirected.method == .post)
        #expect(proposal.redirected.headerFields[.authorization] == "Bearer secret")
        #expect(proposal.next.method == .get)
        #expect(proposal.next.url?.absoluteString == "\(other.url)/to?x=1")
        #expect(proposal.next.headerFields[.authorization] == nil)
        #expect(proposal.followed == 0)
    }

    @Test func redirectResponseIsReturned() async throws {
        let server = try redirecting(to: "/to")
        let response = try await transport.perform(
            server.request(.get, "/from", options: options { _ in .returnRedirect })
        )
        #expect(response.status.code == 302)
        #expect(try await response.text() == "moved")
        #expect(response.metrics.hops.isEmpty)
        #expect(server.record.requestCount == 1)
    }

    @Test func refusedRedirectFailsWithTheAppsReason() async throws {
        let server = try redirecting(to: "/to")
        let request = try server.request(.get, "/from", options: options { _ in .refuse("not there") })
        let error = try await transport.failure(of: request)
        #expect(error.kind == .blocked)
        #expect(error.phase == .redirect)
        #expect(error.message == "not there")
        #expect(error.response?.status.code == 302)
        #expect(server.record.requestCount == 1)
    }

    @Test func changedRequestIsSent() async throws {
        let server = try redirecting(to: "/to", 307)
        let options = options { proposal in
            var next = proposal.next
            next.path = "/changed"
            next.method = .get
            next.headerFields[.accept] = "text/plain"
            return .followChanged(next)
        }
        let request = try server.request(.post, "/from", credentials, body: HTTPBody("text"), options: options)
        #expect(try await transport.perform(request).text() == "/changed")
        let last = try #require(server.requests.last)
        #expect(last.method == "GET")
        #expect(last.body.isEmpty)
        #expect(last["Accept"] == "text/plain")
        #expect(last["Authorization"] == "Bearer secret")
    }

    @Test func credentialsAreNotSentToAnOriginThatTheAppChose() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try redirecting(to: "/to")
        let options = options { proposal in
            var next = proposal.next
            next.authority = other.authority
            return .followChanged(next)
        }
        _ = try await transport.perform(server.request(.get, "/from", credentials, options: options))
        let last = try #require(other.requests.last)
        #expect(last["Authorization"] == nil)
        #expect(last["X-Open"] == "open")
        #expect(last["Host"] == other.authority)
    }

    @Test func credentialsOfTheRedirectedRequestAreNotSentToAnotherOrigin() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try redirecting(to: "\(other.url)/to")
        let options = options { proposal in
            var next = proposal.redirected
            next.authority = other.authority
            return .followChanged(next)
        }
        _ = try await transport.perform(server.request(.get, "/from", credentials, options: options))
        let last = try #require(other.requests.last)
        #expect(last["Authorization"] == nil)
        #expect(last["X-Open"] == "open")
    }

    @Test func credentialsThatTheAppSetsAreSentToAnotherOrigin() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try redirecting(to: "\(other.url)/to")
        let options = options { proposal in
            var next = proposal.next
            next.headerFields[.authorization] = "Bearer others"
            return .followChanged(next)
        }
        _ = try await transport.perform(server.request(.get, "/from", credentials, options: options))
        #expect(other.requests.last?["Authorization"] == "Bearer others")
    }

    private static let changedRequestIsValidatedArguments: [(String, String, NetworkError.Kind)] = [
        ("ftp", "127.0.0.1", NetworkError.Kind.unsupportedScheme), ("http", "elsewhere.example", .badURL),
        ("http", "127.0.0.1:99999", .badURL), ("http", "user@127.0.0.1", .badURL),
    ]

    @Test(arguments: Self.changedRequestIsValidatedArguments)
    func changedRequestIsValidated(_ scheme: String, _ authority: String, _ kind: NetworkError.Kind) async throws {
        let server = try redirecting(to: "/to")
        let options = options { proposal in
            var next = proposal.next
            next.scheme = scheme
            next.authority = authority
            return .followChanged(next)
        }
        var request = try server.request(.get, "/from", options: options)
        request.allowedHosts = ["127.0.0.1"]
        let error = try await transport.failure(of: request)
        #expect(error.kind == kind, "\(error)")
        #expect(server.record.requestCount == 1)
    }

    @Test func redirectObserverCanAddFieldsToTheNextRequest() async throws {
        let other = try LoopbackServer(.response(200))
        let server = try redirecting(to: "\(other.url)/to")
        let received = Lock<[String]>([])
        var request = try server.request(.get, "/from", credentials)
        request.onRedirect = { answer, followed, next in
            received.withLock { $0.append("\(answer.status.code) \(followed) \(next.head.path ?? "")") }
            // The other origin doesn't receive the credentials of the first one.
            if next.head.headerFields[.authorization] == nil {
                next.head.headerFields[.authorization] = "Bearer others"
            }
        }
        _ = try await transport.perform(request)
        #expect(received.withLock { $0 } == ["302 0 /to"])
        #expect(other.requests.map { $0["Authorization"] } == ["Bearer others"])
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer secret"])
    }

    /// Reasons why a redirect isn't followed.
    enum NotFollowed: CaseIterable {
        case handedOver, refused, changedToNowhere, bodyIsGone
    }

    @Test(arguments: NotFollowed.allCases)
    func unfollowedRedirectIsNotReported(_ reason: NotFollowed) async throws {
        let server = try LoopbackServer(.response(307, ["Location": "/to"]))
        let options = options { proposal in
            switch reason {
            case .handedOver: return .returnRedirect
            case .refused: return .refuse("not there")
            case .changedToNowhere:
                var next = proposal.next
                next.scheme = "ftp"
                return .followChanged(next)
            case .bodyIsGone: return .follow
            }
        }
        let body = reason == .bodyIsGone ? HTTPBody.stream { AsyncStream { $0.finish() } } : HTTPBody("text")
        var request = try server.request(.post, "/from", body: body, options: options)
        let received = Lock(0)
        request.onRedirect = { _, _, _ in received.withLock { $0 += 1 } }
        if reason == .handedOver {
            _ = try await transport.perform(request)
        } else {
            _ = try await transport.failure(of: request)
        }
        #expect(received.withLock { $0 } == 0)
        #expect(server.record.requestCount == 1)
    }

    @Test func invalidRedirectIsRejectedWithoutCallingTheApp() async throws {
        let server = try redirecting(to: "gopher://127.0.0.1/")
        let request = try server.request(.get, "/from", options: options { _ in .returnRedirect })
        #expect(try await transport.failure(of: request).kind == .unsupportedScheme)
    }

    @Test func everyHopIsRecorded() async throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/a": .response(301, ["Location": "/b?token=1"])
            case "/b?token=1": .response(307, ["Location": "/c"])
            default: .response(200, [:], "there")
            }
        }
        let hops = try await transport.perform(server.request(.post, "/a", body: HTTPBody("x"))).metrics.hops
        #expect(hops.map(\.method) == ["POST", "GET"])
        #expect(hops.map(\.url) == ["\(server.url)/a", "\(server.url)/b?token=1"])
        #expect(hops.map(\.status) == [301, 307])
        #expect(hops.allSatisfy { $0.duration > .zero })
        #expect(try await transport.perform(server.request()).metrics.hops.isEmpty)
    }
}
