import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetExchanges

@Suite(.timeLimit(.minutes(5))) struct SharedStreamTests {
    private let queue = SerialQueue()
    private let events = Lock<[String]>([])

    private func subscribe(to stream: SharedStream<Int>) -> AnyCancellable {
        stream.publisher.sink { [events] _ in
            events.withLock { $0.append("end") }
        } receiveValue: { [events] value in
            events.withLock { $0.append("\(value)") }
        }
    }

    /// A value that another thread has sent waits for the queue. A value or the end, sent by the thread that runs the queue's
    /// work, comes after it.
    @Test(arguments: [false, true])
    func orderIsThatOfSending(isEnd: Bool) {
        let stream = SharedStream<Int>(in: queue)
        let subscription = subscribe(to: stream)
        queue.run {
            onAnotherThread { stream.send(1) }
            if isEnd { stream.finish() } else { stream.send(2) }
            #expect(events.withLock { $0 }.isEmpty)
        }
        #expect(events.withLock { $0 } == ["1", isEnd ? "end" : "2"])
        withExtendedLifetime(subscription) {}
    }

    @Test func valueIsDeliveredImmediatelyIfNoneWaits() {
        let stream = SharedStream<Int>(in: queue)
        let subscription = subscribe(to: stream)
        queue.run {
            stream.send(1)
            #expect(events.withLock { $0 } == ["1"])
        }
        withExtendedLifetime(subscription) {}
    }
}

/// Runs work on another thread and waits for it.
func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        body()
        isDone.signal()
    }
    isDone.wait()
}
