import BeagleNet
import BeagleNetTesting
import Foundation
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct OutboxSenderTests {
    private let folder = OutboxFolder()
    private let clock = ManualClock()

    private func start(_ answers: ScriptedResponses, _ outbox: Outbox) -> NetworkClientDefault {
        Beagle.dependencies.clock = clock
        return client(OutboxInterceptor(outbox), answers)
    }

    private func empty(_ outbox: Outbox) async {
        for await entries in outbox.changes where entries.isEmpty { break }
    }

    @Test func entriesOfThePreviousRunAreSentAtStart() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let client = start(ScriptedResponses(.failure(.refused), .success(.init("ok"))), outbox)
        _ = await Result { try await client.run(.form(1)) }
        let sender = outbox.sendAutomatically(with: client)
        await empty(outbox)
        withExtendedLifetime(sender) {}
    }

    @Test func senderRetriesAfterTheBackoff() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let fields: HTTPFields = [.retryAfter: "70"]
        let answers = ScriptedResponses(.failure(.refused), .failure(.status(503, fields)), .success(.init("ok")))
        let client = start(answers, outbox)
        let backoff = Backoff(base: .seconds(4), cap: .seconds(4), maxServerDelay: .seconds(60))
        let sender = outbox.sendAutomatically(with: client, backoff: backoff)
        #expect(await Result { try await client.run(.form(1)) }.failure?.isStoredInOutbox == true)
        await clock.waitForSleepers(1)
        #expect(try #require(clock.nextWait) < .seconds(4))
        clock.advance(by: .seconds(4))
        while answers.count < 2 { await Task.yield() }
        await clock.waitForSleepers(1)
        // No longer than the maximum that a server may ask for.
        #expect(try #require(clock.nextWait) >= .seconds(60))
        clock.advance(by: .seconds(64))
        await empty(outbox)
        #expect(answers.count == 3)
        withExtendedLifetime(sender) {}
    }

    @Test func networkReturnSendsBeforeTheBackoffEnds() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let answers = ScriptedResponses(.failure(.refused), .success(.init("ok")))
        let client = start(answers, outbox)
        let network = AsyncStream.makeStream(of: Void.self)
        let sender = outbox.sendAutomatically(with: client, whenNetworkReturns: network.stream)
        #expect(await Result { try await client.run(.form(1)) }.failure?.isStoredInOutbox == true)
        await clock.waitForSleepers(1)
        for _ in 0..<100 { network.continuation.yield() }
        await empty(outbox)
        #expect(answers.count == 2)
        withExtendedLifetime(sender) {}
    }

    @Test func newOperationSendsOlderEntriesFirst() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let answers = ScriptedResponses(.failure(.refused), .success(.init("ok")))
        let client = start(answers, outbox)
        let sender = outbox.sendAutomatically(with: client)
        #expect(await Result { try await client.run(.form(1)) }.failure?.isStoredInOutbox == true)
        await clock.waitForSleepers(1)
        #expect(try await client.run(.form(2)).shown == "ok")
        #expect(answers.operations.withLock { $0.map(\.path) } == ["/1", "/1", "/2"])
        withExtendedLifetime(sender) {}
    }

    @Test func releasingTheSenderStopsIt() async throws {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let answers = ScriptedResponses(.failure(.refused))
        var client: NetworkClientDefault? = start(answers, outbox)
        weak let held = client
        var sender: Outbox.Sender? = outbox.sendAutomatically(with: try #require(client))
        _ = await Result { [client] in try await client!.run(.form(1)) }
        await clock.waitForSleepers(1)
        client = nil
        withExtendedLifetime(sender) {}
        #expect(held != nil)
        sender = nil
        // Nothing sleeps any more, and nothing retains the client.
        while clock.nextWait != nil || held != nil { await Task.yield() }
        let count = answers.count
        clock.advance(by: .seconds(1_000))
        #expect(answers.count == count)
        #expect(folder.files.count == 1)
    }
}
