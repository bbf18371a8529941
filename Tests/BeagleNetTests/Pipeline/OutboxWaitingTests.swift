import BeagleNetTesting
import Foundation
import Testing
import TestClients

@testable import BeagleNet

@Suite(.beagle(), .timeLimit(.minutes(5))) struct OutboxWaitingTests {
    private let folder = OutboxFolder()

    // MARK: - Joining

    @Test("a caller that joins a send as it ends receives its outcome; a later call is sent again")
    func joiningCallerReceivesTheOutcomeOfAFinishedSend() async throws {
        defer { folder.remove() }
        let runs = ScriptedRuns()
        let outbox = Outbox(directory: folder.path)
        let client = client(OutboxInterceptor(outbox), runs)
        var queued = NetworkOperation.form(1, headers: ["Idempotency-Key": "k"])
        queued.outbox = .queue("q")
        let form = queued
        for answer in ["1", "2"] {
            async let first = client.run(form)
            let run = await runs.next()
            // As if an entry ahead of the second one took long to write.
            let place = outbox.writeQueue.enter("q")
            async let second = client.run(form)
            while outbox.state.withLock({ $0.live.values.allSatisfy { $0.pendingWaiters == 0 } }) { await Task.yield() }
            run.finish(answer)
            #expect(try await first.shown == answer)
            place.leave()
            #expect(try await second.shown == answer)
            #expect(folder.files == [])
            #expect(outbox.state.withLock { $0.live.isEmpty })
        }
        #expect(runs.count == 2)
    }

    // MARK: - A slow disk

    @Test func loggingDoesNotWaitForTheDisk() async {
        defer { folder.remove() }
        let outbox = Outbox(directory: folder.path)
        let notifications = AsyncStream.makeStream(of: Void.self)
        // Locked, as while the directory is read.
        outbox.files.index.withLock { _ in
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                outbox.files.note(.lost)
                outbox.logProblems(OffLogger())
                if outbox.takeDamages().isEmpty { notifications.continuation.yield() }
                notifications.continuation.finish()
                isDone.signal()
            }
            #expect(isDone.wait(timeout: .now() + 10) == .success)
        }
        #expect(await notifications.stream.reduce(0) { count, _ in count + 1 } == 1)
    }
}
