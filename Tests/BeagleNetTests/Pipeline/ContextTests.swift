import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct ContextTests {
    private enum Screen: NetworkOperation.ContextKey { static let defaultValue = "none" }
    private enum Title: NetworkOperation.ContextKey { static let defaultValue = "untitled" }
    private enum Trail: NetworkOperation.ContextKey { static let defaultValue: [String] = [] }
    private enum Choice: NetworkOperation.ContextKey { static let defaultValue: String? = "standard" }

    /// Appends its name to the trail.
    private func passing(_ name: String) -> Changing {
        Changing { $0.context[Trail.self].append(name) }
    }

    // MARK: - Values

    @Test func aKeyHasItsDefaultUntilItIsSet() {
        var context = NetworkOperation.Context()
        #expect(context[Screen.self] == "none")
        context[Screen.self] = "home"
        #expect(context[Screen.self] == "home")
        #expect(context[Title.self] == "untitled")
        #expect(NetworkOperation.of(.form).context[Screen.self] == "none")
    }

    @Test func optionalValueHasADefaultAndCanBeSetToNil() {
        var context = NetworkOperation.Context()
        #expect(context[Choice.self] == "standard")
        context[Choice.self] = nil
        #expect(context[Choice.self] == nil)
        context[Choice.self] = "mine"
        #expect(context[Choice.self] == "mine")
    }

    @Test func copiesAreIndependent() {
        var one = NetworkOperation.of(.form)
        one.context[Trail.self] = ["one"]
        var other = one
        other.context[Trail.self].append("other")
        other.context[Screen.self] = "home"
        #expect(one.context[Trail.self] == ["one"])
        #expect(one.context[Screen.self] == "none")
        #expect(other.context[Trail.self] == ["one", "other"])
        let kept = other.context
        other.context = NetworkOperation.Context()
        #expect(other.context[Trail.self].isEmpty)
        #expect(kept[Trail.self] == ["one", "other"])
    }

    // MARK: - In the pipeline

    @Test(arguments: NetworkOperation.Kind.known)
    func innerInterceptorsReadTheValues(kind: NetworkOperation.Kind) async throws {
        let answers = ScriptedResponses(.success(.init("1")))
        let client = client(passing("outer"), passing("inner"), answers)
        var operation = NetworkOperation.of(kind)
        operation.context[Screen.self] = "home"
        operation.context[Trail.self] = ["app"]
        _ = try await client.run(operation)
        let performed = try #require(answers.operations.withLock { $0.first })
        #expect(performed.context[Screen.self] == "home")
        #expect(performed.context[Trail.self] == ["app", "outer", "inner"])
        #expect(performed.context[Title.self] == "untitled")
        #expect(operation.context[Trail.self] == ["app"])
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func eachAttemptBeginsWithTheSameContext(kind: NetworkOperation.Kind) async throws {
        let withoutDelay = Backoff(base: .zero, limit: 3)
        let retry = RetryInterceptor(backoff: withoutDelay, subscriptionBackoff: withoutDelay)
        let answers = ScriptedResponses(.failure(.refused), .success(.init("1")))
        _ = try await client(passing("outer"), retry, passing("inner"), answers).run(.of(kind))
        let trails = answers.operations.withLock { $0.map { $0.context[Trail.self] } }
        #expect(trails == [["outer", "inner"], ["outer", "inner"]])
    }

    // MARK: - Identity

    @Test("the context isn't part of the identity: a shared run has the one of its first subscriber")
    func contextIsNotPartOfTheIdentity() async {
        for kind in NetworkOperation.Kind.known where kind.isShared {
            let runs = ScriptedRuns()
            let client = client(runs)
            let (one, other) = (EventRecorder(), EventRecorder())
            var operation = NetworkOperation.of(kind)
            operation.context[Screen.self] = "home"
            client.watch(operation, one.receive)
            operation.context[Screen.self] = "search"
            client.watch(operation, other.receive)
            let run = await runs.next()
            #expect(run.operation.context[Screen.self] == "home", "\(kind)")
            run.finish("1")
            await one.waitForEvents(1)
            await other.waitForEvents(1)
            #expect(one.all.first == "1", "\(kind)")
            #expect(other.all.first == "1", "\(kind)")
            #expect(runs.count == 1, "\(kind)")
            withExtendedLifetime(client) {}
        }
    }

    @Test func storedResponseIsFoundWithAnyContext() async {
        let fixture = CacheFixture()
        var operation = NetworkOperation.storable()
        operation.context[Screen.self] = "home"
        #expect(await fixture.results(of: operation) == ["1"])
        operation.context[Screen.self] = "search"
        #expect(await fixture.results(of: operation) == ["stored 1"])
    }
}
