package import BeagleNetHTTP
import Synchronization

extension NetworkOperation {
    private enum MessagesKey: ContextKey { static let defaultValue: MessageCount? = nil }

    /// Counts the messages of this run, those of all attempts and redirects, whoever asks again; nil where the pipeline
    /// has no `CountingInterceptor`.
    package var messages: MessageCount? { context[MessagesKey.self] }

    /// The operation, whose messages are counted here. Never inlined: the frame of each operation would have room for it.
    @inline(never) func counted(by messages: MessageCount) -> NetworkOperation {
        var operation = self
        operation.context[MessagesKey.self] = messages
        return operation
    }
}

/// Counts messages.
package final class MessageCount: Sendable {
    private let count = Atomic<Int>(0)
    /// What a log calls the last one.
    package let lastEntry = InlineLock<EntryID?>(nil)

    /// A count that begins with none.
    package init() {}

    /// Counts messages that go out.
    ///
    /// - Returns: how many there were before.
    @discardableResult
    package func add(_ messages: Int = 1) -> Int {
        count.add(messages, ordering: .relaxed).oldValue
    }
}

/// What tells an entry of a log from all others: text is made of it when somebody reads it.
package struct EntryID: Sendable, CustomStringConvertible {
    private let session: String
    private let number: Int

    /// - Parameters:
    ///   - session: who wrote it.
    ///   - number: which of the session's it is.
    package init(session: String, number: Int) {
        self.session = session
        self.number = number
    }

    package var description: String { "\(session)-\(number)" }
}
