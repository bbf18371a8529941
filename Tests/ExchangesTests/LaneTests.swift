import BeagleNetHTTP
import Foundation
import Synchronization
import Testing

@testable import BeagleNetExchanges

@Suite(.timeLimit(.minutes(1))) struct LaneTests {
    private let lane = Lane()
    private let heard = Lock<[Int]>([])

    private func note(_ number: Int) { heard.withLock { $0.append(number) } }

    @Test func turnIsTakenAtOnceWhereItIsFree() {
        lane.run { note(1) }
        note(2)
        #expect(heard.withLock { $0 } == [1, 2])
    }

    @Test func whatATurnDoesIsPartOfIt() {
        lane.run {
            note(1)
            lane.run { note(2) }
            note(3)
        }
        #expect(heard.withLock { $0 } == [1, 2, 3])
        #expect(!lane.isMine)
    }

    @Test func laterIsAfterTheTurn() {
        lane.run {
            lane.runLater {
                note(2)
                lane.runLater { note(4) }
                lane.run { note(3) }
            }
            note(1)
        }
        #expect(heard.withLock { $0 } == [1, 2, 3, 4])
    }

    /// A thread is not kept for ever by those who leave more: it does so many turns, and a task does the rest, in order.
    @Test func threadHandsOverAfterSoManyTurns() async {
        let lane = Lane(limit: 10)
        let done = Lock<[(number: Int, isCallers: Bool)]>([])
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let thread = Thread {
                Thread.current.threadDictionary["isCaller"] = true
                @Sendable func turn(_ number: Int) {
                    done.withLock { $0.append((number, Thread.current.threadDictionary["isCaller"] != nil)) }
                    // There is always one more.
                    if number < 35 { lane.runLater { turn(number + 1) } } else { continuation.resume() }
                }
                lane.run { turn(0) }
            }
            thread.start()
        }
        #expect(done.withLock { $0.map(\.number) } == Array(0...35))
        // Its own, and ten of others.
        #expect(done.withLock { $0.filter(\.isCallers).map(\.number) } == Array(0...10))
        // It is free again.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            lane.run { continuation.resume() }
        }
    }

    @Test func threadDoesAllWhereThatIsNoMoreThanTheLimit() {
        let lane = Lane(limit: 3)
        lane.run {
            for number in 1...3 { lane.runLater { note(number) } }
            note(0)
        }
        // It is free: this one's turn is now.
        lane.run { note(4) }
        #expect(heard.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    /// Whoever left them, and however many were there before it: its own, and three of others; the rest is a task's.
    @Test func threadDoesItsOwnTurnAndThreeOfOthers() async {
        let lane = Lane(limit: 3)
        let done = Lock<[(number: Int, isCallers: Bool)]>([])
        @Sendable func turn(_ number: Int) {
            done.withLock { $0.append((number, Thread.current.threadDictionary["isCaller"] != nil)) }
        }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                Thread.current.threadDictionary["isCaller"] = true
                lane.run {
                    lane.runLater { turn(2) }
                    let left = DispatchSemaphore(value: 0)
                    Thread.detachNewThread {
                        for number in 3...7 { lane.run { turn(number) } }
                        left.signal()
                    }
                    left.wait()
                    lane.runLater { continuation.resume() }
                    turn(0)
                    // What is done in a turn is part of it, and no turn of another.
                    lane.run { turn(1) }
                }
            }
        }
        #expect(done.withLock { $0.map(\.number) } == Array(0...7))
        #expect(done.withLock { $0.filter(\.isCallers).map(\.number) } == Array(0...4))
    }

    /// Another thread leaves what it has to do to the one that has its turn, and does not wait.
    @Test func turnOfAnotherThreadIsDoneByWhoHasOne() async {
        let left = DispatchSemaphore(value: 0)
        let doneBy = Lock<[Bool]>([])
        let (before, after) = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [lane] in
                let first = ObjectIdentifier(Thread.current)
                let before = Lock<[Bool]>([])
                lane.run {
                    Thread.detachNewThread {
                        lane.run { doneBy.withLock { $0.append(ObjectIdentifier(Thread.current) == first) } }
                        left.signal()
                    }
                    // The other has left it, or the test would be stuck here.
                    left.wait()
                    before.withLock { $0 = doneBy.withLock { $0 } }
                }
                continuation.resume(returning: (before.withLock { $0 }, doneBy.withLock { $0 }))
            }
        }
        #expect(before == [])
        #expect(after == [true])
    }

    @Test func turnsOfManyThreadsAreOneAtATime() async {
        let inside = Lock(0)
        let (done, overlaps) = (Lock(0), Lock(0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { [lane] in
                    for _ in 0..<2_000 {
                        lane.run {
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
        // Some may be left to a task.
        while done.withLock({ $0 }) < 16_000 { await Task.yield() }
        #expect(done.withLock { $0 } == 16_000)
        #expect(overlaps.withLock { $0 } == 0)
    }
}
