import BeagleNetGraphQL
import BeagleNetTesting
import Testing

/// The number of times that each kind of operation is sent, on the wire.
@Suite(.timeLimit(.minutes(5))) struct PipelineRetryTests {
    /// Counts the attempts that reach the end of the pipeline.
    private struct Attempts: Interceptor {
        let count = Lock(0)

        func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            count.withLock { $0 += 1 }
            return try await next(operation, emit)
        }
    }

    @Test(arguments: WireKind.allCases)
    func operationThatHasNotReachedTheServerIsRetried(kind: WireKind) async throws {
        let attempts = Attempts()
        let fixture = try WireFixture(WireServer(), WireFixture.retry, attempts)
        let error = await fixture.outcome(kind, at: WireServer.nowhere).failure
        #expect(error?.kind == .connect)
        #expect(error?.mayHaveReachedServer == false)
        #expect(attempts.count.withLock { $0 } == (kind.isBatch ? 6 : 3))
    }

    @Test(arguments: WireKind.allCases)
    func operationThatMayHaveRunIsRetriedUnlessItIsAMutation(kind: WireKind) async throws {
        let fixture = try WireFixture(WireServer([.lost]), WireFixture.retry)
        let outcome = await fixture.outcome(kind)
        let mayHarm = kind.operationKind == .mutation
        #expect(fixture.server.count == (mayHarm ? 1 : 2))
        #expect((outcome.failure != nil) == mayHarm)
        if mayHarm { #expect(outcome.failure?.mayHaveReachedServer == true) }
    }

    @Test("a mutation with an idempotency key is retried, except over WebSockets", arguments: WireKind.mutations)
    func mutationWithAnIdempotencyKeyIsRetried(kind: WireKind) async throws {
        for fault in [WireServer.Fault.lost, .status(503)] where !kind.isSocket {
            let fixture = try WireFixture(WireServer([fault]), WireFixture.retry)
            #expect(try await fixture.ask(kind, headers: ["Idempotency-Key": "k"]) == "- -")
            #expect(fixture.server.requests.map(\.key) == ["k", "k"])
        }
        guard kind.isSocket else { return }
        let fixture = try WireFixture(WireServer([.lost]), WireFixture.retry)
        let error = await fixture.outcome(kind, headers: ["Idempotency-Key": "k"]).failure
        #expect(error?.mayHaveReachedServer == true)
        #expect(fixture.server.requests.map(\.key) == [nil])
    }

    @Test(
        "a transient error status is retried, for a mutation only if the server cannot have executed it",
        arguments: WireKind.allCases
    )
    func transientErrorStatusIsRetriedAfterRetryAfter(kind: WireKind) async throws {
        let clock = ManualClock()
        let fixture = try WireFixture(WireServer([.status(503, retryAfter: 7)]), clock: clock, WireFixture.retry)
        // A handshake executes no operation.
        let mayHarm = kind.operationKind == .mutation && !kind.isSocket
        async let outcome = fixture.outcome(kind)
        if !mayHarm {
            await clock.waitForSleepers(kind.isBatch ? 2 : 1)
            #expect(clock.nextWait == .seconds(7))
            #expect(fixture.server.count == 1)
            clock.advance(by: .seconds(7))
        }
        #expect(await outcome.failure?.response?.status.code == (mayHarm ? 503 : nil))
        #expect(fixture.server.count == (mayHarm ? 1 : 2))
    }

    @Test(arguments: WireKind.allCases) func lastFailureIsReported(kind: WireKind) async throws {
        let fixture = try WireFixture(WireServer([.status(502), .status(503), .status(504)]), WireFixture.retry)
        let error = await fixture.outcome(kind).failure
        let isSentOnce = kind.operationKind == .mutation && !kind.isSocket
        #expect(error?.response?.status.code == (isSentOnce ? 502 : 504))
        #expect(fixture.server.count == (isSentOnce ? 1 : 3))
    }

    @Test(arguments: WireKind.allCases) func permanentErrorStatusIsNotRetried(kind: WireKind) async throws {
        let fixture = try WireFixture(WireServer([.status(403)]), WireFixture.retry)
        #expect(await fixture.outcome(kind).failure?.response?.status.code == 403)
        #expect(fixture.server.count == 1)
    }
}
