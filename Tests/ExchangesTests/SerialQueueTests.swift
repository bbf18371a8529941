import BeagleNetHTTP
import Foundation
import Synchronization
import Testing

@testable import BeagleNetExchanges

@Suite(.timeLimit(.minutes(5))) struct SerialQueueTests {
    private let queue = SerialQueue()
    private let received = Lock<[Int]>([])

    private func note(_ number: Int) { received.withLock { $0.append(number) } }

    @Test func runExecutesImmediatelyIfTheQueueIsIdle() {
        queue.run { note(1) }
        note(2)
        #expect(received.withLock { $0 } == [1, 2])
    }

    @Test func nestedRunExecutesInline() {
        queue.run {
            note(1)
            queue.run { note(2) }
            note(3)
        }
        #expect(received.withLock { $0 } == [1, 2, 3])
        #expect(!queue.isCurrent)
    }

    @Test func runLaterExecutesAfterTheCurrentBlock() {
        queue.run {
            queue.enqueue {
                note(2)
                queue.enqueue { note(4) }
                queue.run { note(3) }
            }
            note(1)
        }
        #expect(received.withLock { $0 } == [1, 2, 3, 4])
    }

    /// A thread isn't kept forever by a growing queue: it runs a limited number of blocks, and a task runs the rest in order.
    @Test func threadHandsOverToATaskAtTheLimit() async {
        let queue = SerialQueue(limit: 10)
        let done = Lock<[(number: Int, isCallers: Bool)]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let thread = Thread {
                Thread.current.threadDictionary["isCaller"] = true
                @Sendable func turn(_ number: Int) {
                    done.withLock { $0.append((number, Thread.current.threadDictionary["isCaller"] != nil)) }
                    // Each block queues one more.
                    if number < 35 { queue.enqueue { turn(number + 1) } } else { continuation.resume() }
                }
                queue.run { turn(0) }
            }
            thread.start()
        }
        #expect(done.withLock { $0.map(\.number) } == Array(0...35))
        // The thread's own block and ten others.
        #expect(done.withLock { $0.filter(\.isCallers).map(\.number) } == Array(0...10))
        // The queue is idle again.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.run { continuation.resume() }
        }
    }

    @Test func threadRunsAllBlocksUpToTheLimit() {
        let queue = SerialQueue(limit: 3)
        queue.run {
            for number in 1...3 { queue.enqueue { note(number) } }
            note(0)
        }
        // The queue is idle, so this block runs immediately.
        queue.run { note(4) }
        #expect(received.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    /// A thread runs its own block and three others, whichever thread queued them. A task runs the rest.
    @Test func threadRunsItsOwnBlockAndThreeOthers() async {
        let queue = SerialQueue(limit: 3)
        let done = Lock<[(number: Int, isCallers: Bool)]>([])
        @Sendable func turn(_ number: Int) {
            done.withLock { $0.append((number, Thread.current.threadDictionary["isCaller"] != nil)) }
        }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                Thread.current.threadDictionary["isCaller"] = true
                queue.run {
                    queue.enqueue { turn(2) }
                    let left = DispatchSemaphore(value: 0)
                    Thread.detachNewThread {
                        for number in 3...7 { queue.run { turn(number) } }
                        left.signal()
                    }
                    left.wait()
                    queue.enqueue { continuation.resume() }
                    turn(0)
                    // A nested block is part of the current one and doesn't count.
                    queue.run { turn(1) }
                }
            }
        }
        #expect(done.withLock { $0.map(\.number) } == Array(0...7))
        #expect(done.withLock { $0.filter(\.isCallers).map(\.number) } == Array(0...4))
    }

    /// A second thread queues its block for the thread that is running and doesn't wait.
    @Test func blockOfAnotherThreadRunsOnTheRunningThread() async {
        let left = DispatchSemaphore(value: 0)
        let doneBy = Lock<[Bool]>([])
        let (before, after) = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [queue] in
                let first = ObjectIdentifier(Thread.current)
                let before = Lock<[Bool]>([])
                queue.run {
                    Thread.detachNewThread {
                        queue.run { doneBy.withLock { $0.append(ObjectIdentifier(Thread.current) == first) } }
                        left.signal()
                    }
                    // The other thread has queued its block, or the test would hang here.
                    left.wait()
                    before.withLock { $0 = doneBy.withLock { $0 } }
                }
                continuation.resume(returning: (before.withLock { $0 }, doneBy.withLock { $0 }))
            }
        }
        #expect(before == [])
        #expect(after == [true])
    }

    @Test func blocksOfManyThreadsRunOneAtATime() async {
        let inside = Lock(0)
        let (done, overlaps) = (Lock(0), Lock(0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { [queue] in
                    for _ in 0..<2_000 {
                        queue.run {
                            let count = inside.withLock { inside in
                                inside += 1
                                return inside
                            }
                            if count > 1 { overlaps.withLock { $0 += 1 } }
                            done.withLock { $0 += 1 }
                            inside.withLock { $0 -= 1 }
                        }
                    }
                }
            }
        }
        // A task may run some of them.
        while done.withLock({ $0 }) < 16_000 { await Task.yield() }
        #expect(done.withLock { $0 } == 16_000)
        #expect(overlaps.withLock { $0 } == 0)
    }
}
