@testable import BeagleNetHTTP
import Dispatch
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PromiseTests {
    private let promise = Promise<Int>()

    private func waitForWaiters(_ count: Int) async {
        while promise.waiterCount != count { await Task.yield() }
    }

    @Test func onlyTheFirstValueCounts() async {
        #expect(promise.complete(1))
        #expect(!promise.complete(2))
        #expect(await promise.value == 1)
    }

    @Test func taskThatWaitsLaterReceivesTheValue() async {
        promise.complete(1)
        #expect(await promise.value == 1)
        #expect(await promise.valueUnlessCancelled() == 1)
        #expect(await Promise(2).value == 2)
    }

    @Test func taskReceivesAValueThatIsSetAsItBeginsToWait() async {
        promise.complete(1)
        await withUnsafeContinuation { promise.add(Promise.Waiter(id: nil, $0)) }
        #expect(promise.waiterCount == 0)
    }

    @Test func allWaitingTasksReceiveTheValueInOrder() async {
        let executor = SerialExecutor()
        let order = Lock<[Int]>([])
        await withTaskGroup(of: Int?.self) { group in
            let first = Task { await promise.valueUnlessCancelled() }
            await waitForWaiters(1)
            for number in 0..<5 {
                group.addTask(executorPreference: executor) {
                    let value = number % 2 == 0 ? await promise.value : await promise.valueUnlessCancelled()
                    order.withLock { $0.append(number) }
                    return value
                }
                await waitForWaiters(number < 2 ? number + 2 : number + 1)
                // Later tasks must not take its place.
                if number == 1 { first.cancel() }
            }
            promise.complete(7)
            #expect(await group.reduce(into: []) { $0.append($1) } == Array(repeating: 7, count: 5))
        }
        #expect(order.withLock { $0 } == Array(0..<5))
        #expect(promise.waiterCount == 0)
    }

    @Test(arguments: 0..<3) func cancelledTaskStopsWaitingAndTheOthersContinue(cancelled: Int) async {
        var tasks: [Task<Int?, Never>] = []
        for number in 0..<3 {
            tasks.append(Task { await promise.valueUnlessCancelled() })
            await waitForWaiters(number + 1)
        }
        tasks[cancelled].cancel()
        #expect(promise.waiterCount == 2)
        #expect(await tasks[cancelled].value == nil)
        promise.complete(1)
        for (number, task) in tasks.enumerated() where number != cancelled { #expect(await task.value == 1) }
    }

    @Test func taskThatIsAlreadyCancelledDoesNotWait() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await promise.valueUnlessCancelled()
        }
        #expect(await task.value == nil)
        #expect(promise.waiterCount == 0)
    }

    @Test func cancelledTaskReceivesAValueThatIsThere() async {
        promise.complete(1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await promise.valueUnlessCancelled()
        }
        #expect(await task.value == 1)
    }

    @Test func cancellingTheTaskDoesNotEndTheWaitForAValue() async {
        let task = Task { await promise.value }
        await waitForWaiters(1)
        task.cancel()
        #expect(promise.waiterCount == 1)
        promise.complete(1)
        #expect(await task.value == 1)
    }

    @Test func concurrentValuesAndCancelsResumeEachTaskOnce() async {
        for _ in 0..<200 {
            let promise = Promise<Int>()
            let waiting = (0..<8).map { number in
                Task { number % 2 == 0 ? await promise.value : await promise.valueUnlessCancelled() }
            }
            let winners = await withTaskGroup(of: Int?.self) { group in
                for number in 0..<4 { group.addTask { promise.complete(number) ? number : nil } }
                group.addTask {
                    for task in waiting { task.cancel() }
                    return nil
                }
                return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
            }
            #expect(winners.count == 1)
            for (number, task) in waiting.enumerated() {
                let value = await task.value
                #expect(value == winners.first || value == nil && number % 2 == 1)
            }
            #expect(promise.waiterCount == 0)
        }
    }

    /// Resuming a task calls its executor, which may need the promise.
    @Test func tasksAreResumedOutsideOfTheLock() async {
        let counts = Lock<[Int]>([])
        let executor = SerialExecutor { [promise] in
            let count = promise.waiterCount
            counts.withLock { $0.append(count) }
        }
        let completed = Task(executorPreference: executor) { await promise.value }
        let cancelled = Task(executorPreference: executor) { await promise.valueUnlessCancelled() }
        await waitForWaiters(2)
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        promise.complete(1)
        #expect(await completed.value == 1)
        #expect(counts.withLock { $0.suffix(2) } == [1, 0])
    }

    @Test func waitingTasksAndTheValueAreReleased() async {
        final class Object: Sendable {}
        weak var value: Object?
        weak var released: Promise<Object>?
        do {
            let promise = Promise<Object>()
            released = promise
            let tasks = [Task { _ = await promise.value }, Task { _ = await promise.valueUnlessCancelled() }]
            tasks[1].cancel()
            do {
                let object = Object()
                value = object
                promise.complete(object)
            }
            for task in tasks { await task.value }
        }
        #expect(released == nil)
        #expect(value == nil)
    }
}

/// An executor that calls a closure for each job.
private final class SerialExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "promise")
    private let onEnqueue: @Sendable () -> Void

    init(_ onEnqueue: @escaping @Sendable () -> Void = {}) {
        self.onEnqueue = onEnqueue
    }

    func enqueue(_ job: consuming ExecutorJob) {
        onEnqueue()
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
