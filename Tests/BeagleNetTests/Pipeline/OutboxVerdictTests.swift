import BeagleNetTesting
import CurlPeers
import Testing
import TestClients

@testable import BeagleNet

@Suite(.leavesNothing, .beagle(), .timeLimit(.minutes(5))) struct OutboxVerdictTests {
    private let folder = OutboxFolder()

    /// The response of a page that was reached through redirects.
    private static func answer(_ hops: [(String, Int)], url: String = "http://host/page") -> NetworkResponse {
        var metrics = TransferMetrics()
        metrics.hops = hops.map {
            TransferMetrics.Hop(method: $0.0, url: "http://host/1", status: $0.1, duration: .zero)
        }
        metrics.redirects = hops.count
        return NetworkResponse(url: url, metrics: metrics)
    }

    /// Keeps a form, flushes the outbox with this outcome, and returns the report.
    private func report(
        on outcome: Result<NetworkOperation.Result, NetworkError>,
        in outbox: Outbox
    ) async throws -> Outbox.Report {
        let unreached = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused)))
        #expect(await Result { try await unreached.run(.form(1)) }.failure?.isStoredInOutbox == true)
        return try await outbox.flush(with: client(OutboxInterceptor(outbox), ScriptedResponses(outcome)))
    }

    private static let redirectedPageCountsAsDeliveryOnlyAfterSeeOtherArguments: [([(String, Int)], Bool)] = [
        ([("POST", 303)], true), ([("PUT", 303)], true), ([("POST", 303), ("GET", 302)], true),
        ([("POST", 302)], false), ([("POST", 301)], false), ([("POST", 302), ("GET", 303)], false),
        ([("POST", 307), ("POST", 302)], false), ([("POST", 307), ("POST", 303)], true),
        // These redirects keep the method.
        ([("POST", 307)], true), ([("POST", 308)], true), ([("PUT", 302)], true), ([("GET", 302)], true),
        // The server asked for credentials.
        ([("POST", 401)], true),
    ]

    @Test(arguments: Self.redirectedPageCountsAsDeliveryOnlyAfterSeeOtherArguments)
    func redirectedPageCountsAsDeliveryOnlyAfterSeeOther(hops: [(String, Int)], isDelivered: Bool) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let report = try await report(on: .success(.init(Self.answer(hops))), in: outbox)
        #expect(report.delivered.count == (isDelivered ? 1 : 0))
        #expect(report.refused.map(\.state) == (isDelivered ? [] : [.refused("redirected")]))
        #expect(try outbox.entries().map(\.state) == report.refused.map(\.state))
    }

    @Test(arguments: [(302, "http://host/thanks", true), (303, "http://host/sign-in", false)])
    func appDecidesWhetherAResponseIsADelivery(status: Int, url: String, isDelivered: Bool) async throws {
        defer { folder.remove() }
        let own = Lock<Outbox?>(nil)
        let outbox = Outbox(directory: folder.path) { entry, response in
            // The closure may read the outbox, as no lock is held.
            #expect(own.withLock { $0 }?.state.withLock { $0.sending } == [entry.id])
            return response.url.hasSuffix("/thanks")
        }
        own.withLock { $0 = outbox }
        let answer = Self.answer([("POST", status)], url: url)
        let report = try await report(on: .success(.init(answer)), in: outbox)
        #expect(report.delivered.count == (isDelivered ? 1 : 0))
        #expect(report.refused.count == (isDelivered ? 0 : 1))
        own.withLock { $0 = nil }
    }

    @Test(
        arguments: [
            NetworkError.Kind.badURL, .badRequest, .unsupportedScheme,
        ]
    )
    func credentialFailureDoesNotRejectTheEntry(kind: NetworkError.Kind) async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let rules = AuthInterceptor<String>.Rules(
            load: { throw NetworkError(kind, during: .build, "no base URL") },
            attach: { _, _ in }
        )
        let auth = AuthInterceptor(rules, origins: [Origin(scheme: "http", host: "host")])
        let client = client(OutboxInterceptor(outbox), auth, ScriptedResponses(.success(.init("1"))))
        #expect(await Result { try await client.run(.form(1)) }.failure?.isStoredInOutbox == true)
        #expect(try outbox.entries().count == 1)
    }

    @Test func waitingCallerReceivesTheRedirectedResponse() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), ScriptedResponses(.success(.init(Self.answer([("POST", 302)])))))
        #expect(try await client.run(.form(1)).response?.url == "http://host/page")
        #expect(try outbox.entries() == [])
    }

    @Test func unreadableRedirectedPageIsNotADelivery() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        var error = NetworkError(.tooLarge, during: .body, "")
        error.response = HTTPResponse(status: .ok)
        error.metrics = Self.answer([("POST", 302)]).metrics
        #expect(try await report(on: .failure(error), in: outbox).refused.map(\.state) == [.refused("redirected")])
    }

    @Test(arguments: [302, 303]) func transportReportsTheRedirectToTheOutbox(status: Int) async throws {
        defer { folder.remove() }
        let server = try LoopbackServer { request in
            request.target.hasPrefix("/1") ? .response(status, ["Location": "/page"]) : .response(200, [:], "Sign in")
        }
        let outbox = Outbox(directory: folder.path)
        let unreached = client(OutboxInterceptor(outbox), ScriptedResponses(.failure(.refused)))
        _ = await Result { try await unreached.run(.form(1, host: "127.0.0.1:\(server.port)")) }
        Beagle.dependencies.interceptors = [OutboxInterceptor(outbox), StatusInterceptor()]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        let report = try await outbox.flush(with: client)
        #expect(server.requests.map(\.method) == ["POST", "GET"])
        #expect(report.delivered.map(\.status) == (status == 303 ? [200] : []))
        #expect(report.refused.map(\.state) == (status == 303 ? [] : [.refused("redirected")]))
        withExtendedLifetime(client) {}
    }
}
