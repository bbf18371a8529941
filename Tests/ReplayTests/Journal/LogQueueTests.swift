import BeagleNetHTTP
import Dispatch
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct LogQueueTests {
    private static let draft = LogJob.ClosureDraft(redactor: Redactor()) { .sample() }

    private func end(_ exchange: Int, bytes: Int = 10, isFailure: Bool = false) -> LogJob {
        LogJob(exchange: exchange, work: .end(Self.draft), bytes: bytes, isFailure: isFailure)
    }

    private func start(_ exchange: Int, hasHead: Bool = false) -> LogJob {
        LogJob(exchange: exchange, work: .start(Self.draft, hasHead: hasHead), bytes: 10)
    }

    private func chunk(_ exchange: Int, bytes: Int = 10) -> LogJob {
        LogJob(exchange: exchange, work: .chunk(.response, Data(count: bytes)), bytes: bytes)
    }

    private func queue(_ jobs: [LogJob], maxBytes: Int = 100, maxCount: Int = 4) -> LogQueue.Batch {
        let queue = LogQueue(maxBytes: maxBytes, maxCount: maxCount, isLossless: false)
        for job in jobs { queue.add(job) }
        return queue.take(until: .now()) ?? LogQueue.Batch()
    }

    @Test func endReplacesAQueuedStart() {
        #expect(queue([start(1), start(2), end(1)]).jobs.map(\.exchange) == [2, 1])
    }

    /// A reader that follows the log assigns messages by the start of their exchange.
    @Test func endKeepsAStartWithMessages() {
        let message = LogEntry.Message(.send, at: Date(timeIntervalSince1970: 0), Data("hello".utf8))
        let said = LogJob(exchange: 1, work: .message(message, Redactor()), bytes: 5)
        let batch = queue([start(1), said, end(1)])
        #expect(batch.jobs.map { $0.start != nil } == [true, false, false])
    }

    @Test func bodyChunksAreDroppedFirst() {
        let batch = queue([chunk(1), end(2), chunk(1), end(3), end(4), end(5)])
        #expect(batch.jobs.map(\.exchange) == [2, 3, 4, 5])
        #expect(batch.truncatedBodies == [BodyKey(exchange: 1, side: .response)])
        #expect(batch.losses == LogQueue.Losses(bodies: 1, records: 0))
    }

    @Test func bodyThatLostAChunkReceivesNoMore() {
        let batch = queue([chunk(2), chunk(1, bytes: 90), chunk(2), end(2)], maxCount: 9)
        #expect(batch.jobs.map(\.exchange) == [1, 2])
        #expect(batch.truncatedBodies == [BodyKey(exchange: 2, side: .response)])
    }

    @Test func newestBodyIsDroppedFirst() {
        let batch = queue([chunk(1), chunk(3, bytes: 80), chunk(2), chunk(1), chunk(3)], maxCount: 9)
        #expect(batch.jobs.map(\.exchange) == [1, 2, 1])
        #expect(batch.truncatedBodies == [BodyKey(exchange: 3, side: .response)])
        #expect(queue([chunk(1, bytes: 50), chunk(2, bytes: 50), end(3)]).jobs.map(\.exchange) == [1, 3])
    }

    @Test func bodiesOfEndsAreDroppedNext() {
        let heavy = LogJob.headBytes
        let batch = queue([end(1, bytes: 3 * heavy), end(2, bytes: 3 * heavy)], maxBytes: 5 * heavy)
        #expect(batch.jobs.map(\.isBodiless) == [true, false])
        #expect(batch.losses == LogQueue.Losses(bodies: 1, records: 0))
    }

    @Test func oldestSuccessfulRecordsAreDroppedNext() {
        let batch = queue([end(1, isFailure: true), end(2), end(3), end(4), end(5), end(6)])
        #expect(batch.jobs.map(\.exchange) == [1, 4, 5, 6])
        #expect(batch.losses == LogQueue.Losses(bodies: 0, records: 2))
    }

    @Test func droppedEndIsForgotten() {
        let batch = queue([
            end(1), end(2, isFailure: true), end(3, isFailure: true), end(4, isFailure: true), end(5), end(6),
        ])
        #expect(batch.jobs.map(\.exchange) == [2, 3, 4, 6])
        #expect(batch.droppedExchanges == [1, 5])
    }

    @Test func reopenedBodyIsNotCut() {
        let open = LogJob(exchange: 1, work: .open(.response, mediaType: "", Redactor()), bytes: 0)
        let batch = queue([end(2), chunk(1, bytes: 91), open, chunk(1)])
        #expect(batch.jobs.map(\.exchange) == [2, 1, 1])
        #expect(batch.truncatedBodies == [])
    }

    @Test func bodyWithADroppedOpeningReceivesNoChunks() {
        let open = LogJob(exchange: 1, work: .open(.response, mediaType: "", Redactor()), bytes: 0)
        let failures = (2...5).map { end($0, isFailure: true) }
        let queue = LogQueue(maxBytes: 100, maxCount: 4, isLossless: false)
        for job in failures + [open] { queue.add(job) }
        #expect(queue.take(until: .now())?.losses == LogQueue.Losses(bodies: 1, records: 0))
        queue.finish(4, bytes: 40)
        queue.add(chunk(1))
        #expect(queue.take(until: .now())?.jobs.isEmpty == true)
    }

    @Test func losslessQueueAcceptsJobsThatMustNotWait() {
        let queue = LogQueue(maxBytes: 100, maxCount: 1, isLossless: true)
        queue.add(end(1))
        queue.add(end(2, bytes: 1_000), mayBlock: false)
        queue.add(end(3), mayBlock: false)
        let batch = queue.take(until: .now())
        #expect(batch?.jobs.map(\.exchange) == [1, 2, 3])
        #expect(batch?.jobs.contains(where: \.isBodiless) == false)
    }

    @Test func oversizedJobIsAcceptedIfItIsAlone() {
        #expect(queue([end(1, bytes: 1_000)]).jobs.map(\.isBodiless) == [false])
    }

    @Test func takenJobsCountUntilTheyAreFinished() {
        let queue = LogQueue(maxBytes: 100, maxCount: 2, isLossless: false)
        queue.add(end(1, isFailure: true))
        queue.add(end(2, isFailure: true))
        #expect(queue.take(until: .now())?.jobs.count == 2)
        queue.add(end(3))
        #expect(queue.take(until: .now())?.losses.records == 1)
        queue.finish(2, bytes: 20)
        queue.add(end(4))
        #expect(queue.take(until: .now())?.jobs.map(\.exchange) == [4])
    }

    @Test func losslessQueueBlocksTheSenderWhenFull() {
        let queue = LogQueue(maxBytes: 100, maxCount: 1, isLossless: true)
        queue.add(end(1))
        let writer = DispatchQueue(label: "writer")
        writer.async {
            var taken = 0
            while taken < 3 {
                let jobs = queue.take(until: .distantFuture)?.jobs ?? []
                taken += jobs.count
                queue.finish(jobs.count, bytes: 10 * jobs.count)
            }
        }
        queue.add(end(2))
        queue.add(end(3))
        writer.sync {}
        #expect(queue.take(until: .now())?.jobs.isEmpty == true)
    }

    // MARK: Patience

    private let lingerDuration = Duration.milliseconds(20)
    /// The time at which a test gives up.
    private var soon: DispatchTime { .now() + 10 }

    private func lingeringQueue(_ lingerDuration: Duration, maxBytes: Int = 1_000, maxCount: Int = 100) -> LogQueue {
        LogQueue(
            maxBytes: maxBytes,
            maxCount: maxCount,
            isLossless: false,
            lingerDuration: lingerDuration,
            // Longer than other tests delay this one.
            startHoldDuration: max(lingerDuration, .seconds(3))
        )
    }

    @Test func startIsWrittenIfItsEndIsLate() {
        let queue = lingeringQueue(lingerDuration)
        queue.add(start(1))
        queue.add(end(2))
        // The end of 1 may still arrive.
        #expect(queue.take(until: soon)?.jobs.map(\.exchange) == [2])
        #expect(queue.take(until: soon)?.jobs.map(\.exchange) == [1])
        #expect(queue.take(until: .now())?.jobs.isEmpty == true)
    }

    @Test func timelyEndReplacesItsStart() {
        let queue = lingeringQueue(lingerDuration)
        queue.add(start(1))
        queue.add(end(2))
        #expect(queue.take(until: soon)?.jobs.map(\.exchange) == [2])
        queue.add(end(1))
        let jobs = queue.take(until: soon)?.jobs ?? []
        #expect(jobs.map(\.exchange) == [1] && !jobs.contains { if case .start = $0.work { true } else { false } })
    }

    @Test func startPrecedesOtherJobsOfItsExchange() {
        let queue = lingeringQueue(lingerDuration)
        let open = LogJob(exchange: 1, work: .open(.response, mediaType: "", Redactor()), bytes: 0)
        for job in [start(1), start(2), open] { queue.add(job) }
        let jobs = queue.take(until: soon)?.jobs ?? []
        #expect(jobs.map(\.exchange) == [1, 1] && jobs.map(\.bytes) == [10, 0])
        #expect(queue.take(until: soon)?.jobs.map(\.exchange) == [2])
    }

    /// Takes jobs on another thread until the queue is closed, and yields the exchange of each one.
    private func write(_ queue: LogQueue) -> AsyncStream<Int> {
        let (taken, takenInput) = AsyncStream.makeStream(of: Int.self)
        DispatchQueue(label: "writer").async {
            while let batch = queue.take(until: .distantFuture) {
                for job in batch.jobs {
                    takenInput.yield(job.exchange)
                    queue.finish(1, bytes: job.bytes)
                    if case .call(let call) = job.work { call() }
                }
            }
            takenInput.finish()
        }
        return taken
    }

    @Test(.timeLimit(.minutes(5))) func flushAndFillLevelWakeAWaitingWriter() async {
        let queue = lingeringQueue(.seconds(90), maxBytes: 80)
        var exchanges = write(queue).makeAsyncIterator()
        await withCheckedContinuation { continuation in
            queue.add(start(1))
            queue.call { continuation.resume() }
        }
        #expect(await exchanges.next() == 1)
        #expect(await exchanges.next() == 0)
        // The third job fills more than a quarter of the queue; when the first is finished, it is less.
        for exchange in 2...4 { queue.add(end(exchange)) }
        #expect(await exchanges.next() == 2)
        queue.add(chunk(5))
        for exchange in 3...5 { #expect(await exchanges.next() == exchange) }
        queue.add(start(6))
        queue.close()
        #expect(await exchanges.next() == 6)
        #expect(await exchanges.next() == nil)
    }

    @Test(.timeLimit(.minutes(5)), arguments: 0..<4) func anyJobWakesAWriterThatWaitsForEnds(which: Int)
        async throws
    {
        let queue = LogQueue(isLossless: false, lingerDuration: .milliseconds(1), startHoldDuration: .seconds(90))
        var exchanges = write(queue).makeAsyncIterator()
        queue.add(start(1))
        // Time for the writer to begin to wait.
        try await Task.sleep(for: .milliseconds(50))
        switch which {
        case 0:
            queue.add(end(2))
            #expect(await exchanges.next() == 2)
        case 1:
            queue.add(chunk(2))
            #expect(await exchanges.next() == 1)
        case 2:
            await withCheckedContinuation { continuation in queue.call { continuation.resume() } }
            #expect(await exchanges.next() == 1)
        default:
            queue.add(end(1))
            #expect(await exchanges.next() == 1)
        }
        queue.close()
    }

    /// Starts arrive at intervals shorter than the writer's delay, until the first is written.
    @Test(.timeLimit(.minutes(5))) func furtherStartsDoNotDelayTheFirst() async throws {
        // With capacity for more jobs than can arrive.
        let queue = LogQueue(
            maxBytes: .max,
            maxCount: .max,
            isLossless: false,
            lingerDuration: .milliseconds(1),
            startHoldDuration: lingerDuration
        )
        var exchanges = write(queue).makeAsyncIterator()
        let others = Task {
            for exchange in 1... {
                if Task.isCancelled { return }
                queue.add(start(exchange))
                try await Task.sleep(for: lingerDuration / 4)
            }
        }
        #expect(await exchanges.next() == 1)
        others.cancel()
        _ = await others.result
        queue.close()
    }

    @Test(.timeLimit(.minutes(5))) func startsThatCrowdTheQueueAreWritten() async throws {
        let crowded = LogQueue(
            maxCount: 40,
            isLossless: false,
            lingerDuration: .milliseconds(1),
            startHoldDuration: .seconds(90)
        )
        var exchanges = write(crowded).makeAsyncIterator()
        crowded.add(start(1))
        // Time for the writer to start waiting.
        try await Task.sleep(for: .milliseconds(50))
        for exchange in 2...11 { crowded.add(start(exchange)) }
        #expect(await exchanges.next() == 1)
        crowded.close()
    }

    @Test func takeReturnsAtItsDeadlineWhileStartsWait() {
        let queue = LogQueue(isLossless: false, lingerDuration: .milliseconds(1), startHoldDuration: .seconds(90))
        queue.add(start(1))
        #expect(queue.take(until: .now() + 0.05)?.jobs.isEmpty == true)
    }

    @Test func allStartsOfAnEndedExchangeAreDropped() {
        let queue = lingeringQueue(lingerDuration)
        for job in [start(1), start(2), start(1, hasHead: true), end(1)] { queue.add(job) }
        #expect(queue.take(until: soon)?.jobs.map(\.exchange) == [1])
        #expect(queue.isBusy == false)
    }

    @Test(.timeLimit(.minutes(5))) func blockedSenderWakesAWaitingWriter() async {
        let queue = LogQueue(maxBytes: 100, maxCount: 100, isLossless: true, lingerDuration: .seconds(90))
        let taken = write(queue)
        queue.add(end(1))
        let heavy = end(2, bytes: 95)
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "sender").async {
                queue.add(heavy)
                continuation.resume()
            }
        }
        queue.close()
        #expect(await taken.reduce(into: []) { $0.append($1) } == [1, 2])
    }

    @Test func waitingWriterTakesSmallBatchesWhenSpaceIsShort() {
        let queue = lingeringQueue(lingerDuration, maxBytes: 80)
        for exchange in 1...3 { queue.add(end(exchange, isFailure: true)) }
        #expect(queue.take(until: soon)?.jobs.map(\.exchange) == [1])
        queue.finish(1, bytes: 10)
        #expect(queue.take(until: soon)?.jobs.map(\.exchange) == [2, 3])
    }

    /// Otherwise the body would not be marked as truncated.
    @Test func bodyIsCutAfterItsOpening() {
        let open = LogJob(exchange: 2, work: .open(.response, mediaType: "", Redactor()), bytes: 0)
        let queue = lingeringQueue(lingerDuration, maxBytes: 80)
        for job in [end(1, bytes: 60), open, chunk(2, bytes: 11), chunk(2, bytes: 30)] { queue.add(job) }
        let first = queue.take(until: soon)
        #expect(first?.jobs.map(\.exchange) == [1] && first?.truncatedBodies == [])
        queue.finish(1, bytes: 60)
        let second = queue.take(until: soon)
        #expect(
            second?.jobs.map(\.exchange) == [2] && second?.truncatedBodies == [BodyKey(exchange: 2, side: .response)]
        )
    }

    /// Otherwise the body would never be released.
    @Test func bodyIsForgottenAfterItsOpening() {
        let open = LogJob(exchange: 2, work: .open(.response, mediaType: "", Redactor()), bytes: 0)
        let queue = lingeringQueue(lingerDuration, maxBytes: 80)
        for job in [end(1, bytes: 60, isFailure: true), open, end(2, bytes: 30)] { queue.add(job) }
        let first = queue.take(until: soon)
        #expect(first?.jobs.map(\.exchange) == [1] && first?.droppedExchanges == [] && first?.losses.records == 1)
        queue.finish(1, bytes: 60)
        let second = queue.take(until: soon)
        #expect(second?.jobs.map(\.exchange) == [2] && second?.droppedExchanges == [2])
    }

    @Test func lossesAreReportedWhileStartsWait() {
        let queue = lingeringQueue(lingerDuration, maxBytes: 100)
        for job in [chunk(1, bytes: 90), chunk(1, bytes: 20), start(2)] { queue.add(job) }
        let batch = queue.take(until: .distantFuture)
        #expect(batch?.jobs.isEmpty == true && batch?.truncatedBodies == [BodyKey(exchange: 1, side: .response)])
        #expect(queue.take(until: soon)?.jobs.map(\.exchange) == [2])
    }

    @Test func closedQueueReturnsItsJobsAndEnds() {
        let queue = LogQueue(maxBytes: 100, maxCount: 4, isLossless: false)
        queue.add(end(1))
        queue.close()
        #expect(queue.add(end(2)) == false)
        #expect(queue.take(until: .distantFuture)?.jobs.map(\.exchange) == [1])
        #expect(queue.take(until: .distantFuture) == nil)
    }
}
