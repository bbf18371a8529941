import BeagleNetGraphQL
import BeagleNetTesting
import CurlPeers
import Testing

/// Credentials for every kind of operation, on the wire.
@Suite(.leavesNothing, .timeLimit(.minutes(5))) struct PipelineAuthTests {
    private final class Person: Sendable {
        struct Gone: Error {}

        let loads = Lock(0)
        let renewals = Lock(0)
        /// The renewal waits for this stream.
        let gate: AsyncStream<Void>?
        let fails: Bool

        init(gate: AsyncStream<Void>? = nil, fails: Bool = false) {
            self.gate = gate
            self.fails = fails
        }

        var auth: AuthInterceptor<String> { auth(isRefusal: nil) }

        func auth(
            isRefusal: (@Sendable (NetworkOperation, Result<NetworkOperation.Result, NetworkError>) -> Bool)?
        ) -> AuthInterceptor<String> {
            AuthInterceptor(
                AuthInterceptor.Rules(
                    load: {
                        self.loads.withLock { $0 += 1 }
                        return "one"
                    },
                    renew: { _ in
                        self.renewals.withLock { $0 += 1 }
                        if let gate = self.gate { for await _ in gate { break } }
                        if self.fails { throw Gone() }
                        return "two"
                    },
                    attach: { token, head in head.headerFields[.authorization] = token },
                    isRefusal: isRefusal
                )
            )
        }
    }

    @Test(arguments: WireKind.allCases) func credentialIsAttached(kind: WireKind) async throws {
        let fixture = try WireFixture(WireServer(token: "one"), Person().auth)
        #expect(try await fixture.ask(kind) == "one -")
        #expect(fixture.server.count == 1)
    }

    @Test(arguments: WireKind.allCases) func rejectedCredentialIsRenewedOnce(kind: WireKind) async throws {
        let person = Person()
        let fixture = try WireFixture(WireServer(token: "two"), person.auth)
        for _ in 1...2 { #expect(try await fixture.ask(kind) == "two -") }
        #expect(fixture.server.requests.map(\.authorization) == ["one", "two", "two"])
        #expect(person.loads.withLock { $0 } == 1)
        #expect(person.renewals.withLock { $0 } == 1)
    }

    @Test func concurrentRejectionsOfAllKindsCauseOneRenewal() async throws {
        let gate = try LoopbackServer.Gate()
        let person = Person()
        // A shared stream opens before its operation is sent, so a late operation already has the new credential.
        let kinds = WireKind.allCases.filter { !$0.isSocket && $0 != .sharedEvents }
        let server = try WireServer(kinds.map { _ in .gate(gate) }, token: "two")
        let fixture = try WireFixture(server, person.auth)
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for kind in kinds { group.addTask { try await fixture.ask(kind) } }
            await server.waitForRequests(kinds.count)
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == kinds.map { _ in "two -" })
        #expect(person.renewals.withLock { $0 } == 1)
        #expect(server.count == 2 * kinds.count)
    }

    @Test func renewalFailureReachesAllWaitingOperations() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let person = Person(gate: gate.stream, fails: true)
        let fixture = try WireFixture(WireServer(token: "two"), person.auth)
        let failures = AsyncStream.makeStream(of: NetworkError.self)
        let kinds = WireKind.allCases.filter { !$0.isBatch && $0 != .deferred }
        for (number, kind) in kinds.enumerated() {
            let operation = try fixture.networkOperation(kind, "\(number)")
            fixture.client.watch(operation) { event in
                if case .failure(let error) = event { failures.continuation.yield(error) }
            }
            // The first operation is rejected. The others wait for the replacement of its token.
            while person.renewals.withLock({ $0 }) == 0 { await Task.yield() }
        }
        gate.continuation.yield()
        var reached = 0
        for await failure in failures.stream {
            #expect(failure.underlying is Person.Gone)
            reached += 1
            if reached == kinds.count { break }
        }
        #expect(person.renewals.withLock { $0 } == 1)
        #expect(fixture.server.count == 1)
    }

    /// Many servers reject credentials with a GraphQL error and status 200. Incremental responses are excluded because there
    /// is no single response to inspect.
    @Test(arguments: WireKind.allCases.filter { $0 != .deferred })
    func graphQLErrorMayCountAsACredentialRejection(kind: WireKind) async throws {
        let person = Person()
        let auth = person.auth { _, outcome in
            switch outcome {
            case .success(let result):
                let answer = result.response.flatMap { try? JSONValue(parsing: $0.data) }
                return answer?["errors"]?[0]?["extensions"]?["code"] == "UNAUTHENTICATED"
            case .failure(let error): return error.graphQLErrors.contains { $0.code == "UNAUTHENTICATED" }
            }
        }
        let fixture = try WireFixture(WireServer([.error("UNAUTHENTICATED")]), auth)
        #expect(try await fixture.ask(kind) == "two -")
        #expect(fixture.server.requests.map(\.authorization) == ["one", "two"])
        #expect(person.renewals.withLock { $0 } == 1)
    }

    @Test(arguments: WireKind.allCases) func secondRejectionIsReported(kind: WireKind) async throws {
        let fixture = try WireFixture(WireServer(token: "three"), Person().auth)
        let error = await fixture.outcome(kind).failure
        #expect(error?.kind == .status)
        #expect(error?.response?.status == .unauthorized)
        #expect(fixture.server.requests.map(\.authorization) == ["one", "two"])
    }

    @Test(arguments: WireKind.allCases) func otherOriginsReceiveNoCredential(kind: WireKind) async throws {
        let (other, person) = (try WireServer(), Person())
        let fixture = try WireFixture(WireServer(), person.auth)
        #expect(try await fixture.ask(kind, at: other.url) == "- -")
        #expect(person.loads.withLock { $0 } == 0)
    }
}
