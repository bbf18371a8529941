import BeagleNetHTTP
import Dispatch
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite struct LogQueueTests {
    private static let draft = LogJob.Draft(redactor: Redactor()) { .sample() }

    private func end(_ exchange: Int, bytes: Int = 10, isFailure: Bool = false) -> LogJob {
        LogJob(exchange: exchange, work: .end(Self.draft), bytes: bytes, isFailure: isFailure)
    }

    private func start(_ exchange: Int) -> LogJob { LogJob(exchange: exchange, work: .start(Self.draft), bytes: 10) }

    private func chunk(_ exchange: Int, bytes: Int = 10) -> LogJob {
        LogJob(exchange: exchange, work: .chunk(.response, Data(count: bytes)), bytes: bytes)
    }

    private func queue(_ jobs: [LogJob], maxBytes: Int = 100, maxCount: Int = 4) -> LogQueue.Batch {
        let queue = LogQueue(maxBytes: maxBytes, maxCount: maxCount, isLossless: false)
        for job in jobs { queue.add(job) }
        return queue.take(until: .now()) ?? LogQueue.Batch()
    }

    @Test func theEndTakesThePlaceOfABeginningThatWaits() {
        #expect(queue([start(1), start(2), end(1)]).jobs.map(\.exchange) == [2, 1])
    }

    @Test func bodiesAreLeftOutFirst() {
        let batch = queue([chunk(1), end(2), chunk(1), end(3), end(4), end(5)])
        #expect(batch.jobs.map(\.exchange) == [2, 3, 4, 5])
        #expect(batch.cuts == [BodyPlace(exchange: 1, side: .response)])
        #expect(batch.losses == LogQueue.Losses(bodies: 1, records: 0))
    }

    @Test func aBodyThatLostAPieceGetsNoMoreOfThem() {
        let batch = queue([chunk(1), chunk(2, bytes: 90), chunk(1), end(1)], maxCount: 9)
        #expect(batch.jobs.map(\.exchange) == [2, 1])
        #expect(batch.cuts == [BodyPlace(exchange: 1, side: .response)])
    }

    @Test func thenTheBodiesOfWhatHasEnded() {
        let heavy = LogJob.headBytes
        let batch = queue([end(1, bytes: 3 * heavy), end(2, bytes: 3 * heavy)], maxBytes: 5 * heavy)
        #expect(batch.jobs.map(\.isBodiless) == [true, false])
        #expect(batch.losses == LogQueue.Losses(bodies: 1, records: 0))
    }

    @Test func thenTheOldestRecordsThatTellOfNoFailure() {
        let batch = queue([end(1, isFailure: true), end(2), end(3), end(4), end(5), end(6)])
        #expect(batch.jobs.map(\.exchange) == [1, 4, 5, 6])
        #expect(batch.losses == LogQueue.Losses(bodies: 0, records: 2))
    }

    @Test func anEndThatIsLeftOutIsNamed() {
        let batch = queue([
            end(1), end(2, isFailure: true), end(3, isFailure: true), end(4, isFailure: true), end(5), end(6),
        ])
        #expect(batch.jobs.map(\.exchange) == [2, 3, 4, 6])
        #expect(batch.forgotten == [1, 5])
    }

    @Test func aBodyThatBeginsAnewIsNotCutForWhatItWas() {
        let open = LogJob(exchange: 1, work: .open(.response, mediaType: "", Redactor()), bytes: 0)
        let batch = queue([end(2), chunk(1, bytes: 91), open, chunk(1)])
        #expect(batch.jobs.map(\.exchange) == [2, 1, 1])
        #expect(batch.cuts == [])
    }

    @Test func aBodyWhoseBeginningWasLeftOutGetsNoPieces() {
        let open = LogJob(exchange: 1, work: .open(.response, mediaType: "", Redactor()), bytes: 0)
        let failures = (2...5).map { end($0, isFailure: true) }
        let queue = LogQueue(maxBytes: 100, maxCount: 4, isLossless: false)
        for job in failures + [open] { queue.add(job) }
        #expect(queue.take(until: .now())?.losses == LogQueue.Losses(bodies: 1, records: 0))
        queue.finish(4, bytes: 40)
        queue.add(chunk(1))
        #expect(queue.take(until: .now())?.jobs.isEmpty == true)
    }

    @Test func whoMayNotWaitDoesNotAndLosesNothing() {
        let queue = LogQueue(maxBytes: 100, maxCount: 1, isLossless: true)
        queue.add(end(1))
        queue.add(end(2, bytes: 1_000), mayWait: false)
        queue.add(end(3), mayWait: false)
        let batch = queue.take(until: .now())
        #expect(batch?.jobs.map(\.exchange) == [1, 2, 3])
        #expect(batch?.jobs.contains(where: \.isBodiless) == false)
    }

    @Test func whatIsLargerThanTheRoomGoesAlone() {
        #expect(queue([end(1, bytes: 1_000)]).jobs.map(\.isBodiless) == [false])
    }

    @Test func whatTheWriterHasTakenCountsUntilItIsDone() {
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

    @Test func whereNothingMayBeLostWhoAsksWaits() {
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

    @Test func aClosedQueueGivesWhatItHasAndEnds() {
        let queue = LogQueue(maxBytes: 100, maxCount: 4, isLossless: false)
        queue.add(end(1))
        queue.close()
        #expect(queue.add(end(2)) == false)
        #expect(queue.take(until: .distantFuture)?.jobs.map(\.exchange) == [1])
        #expect(queue.take(until: .distantFuture) == nil)
    }
}
