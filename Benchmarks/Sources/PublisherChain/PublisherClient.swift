package import BeagleNet
package import OpenCombine

/// A client on publishers as SwiftGraphQL documents it: one stream has all operations, another one all results, and
/// each operation filters its own results. For one thread only.
///
/// It does less than SwiftGraphQL's: identical operations share nothing, and stale results aren't reported.
package final class PublisherClient {
    /// An operation for the exchanges.
    package struct Operation {
        package let id: String
        package let message: TransferRequest
        /// Whether the operation has no subscriber anymore.
        package fileprivate(set) var isTeardown = false

        package init(id: String, message: TransferRequest) {
            self.id = id
            self.message = message
        }
    }

    /// A result from the exchanges.
    package struct Answer {
        package let id: String
        /// The response, or `nil` for a progress event.
        package let response: TransferResponse?

        package init(id: String, response: TransferResponse?) {
            self.id = id
            self.response = response
        }
    }

    package typealias Operations = AnyPublisher<Operation, Never>
    package typealias Answers = AnyPublisher<Answer, Never>
    /// Turns operations into answers, and can pass operations to the next exchange.
    package typealias Exchange = (Operations, (Operations) -> Answers) -> Answers

    private let operations = PassthroughSubject<Operation, Never>()
    private let answers: Answers
    /// A permanent subscription, so that the chain is registered once.
    private var listener: AnyCancellable?

    /// - Parameter exchanges: The chain, outermost first.
    package init(_ exchanges: [Exchange]) {
        let unhandled: (Operations) -> Answers = { $0.compactMap { _ in nil }.eraseToAnyPublisher() }
        let way = exchanges.reversed().reduce(unhandled) { next, exchange in { exchange($0, next) } }
        answers = way(operations.share().eraseToAnyPublisher()).share().eraseToAnyPublisher()
        listener = answers.sink { _ in }
    }

    /// Performs an operation, and unsubscribes after the first answer.
    ///
    /// - Returns: Whether the result was available without waiting.
    @discardableResult package func run(_ operation: Operation) -> Bool {
        var isAnswered = false
        let subscription = execute(operation).first().sink { _ in isAnswered = true }
        operations.send(operation)
        subscription.cancel()
        return isAnswered
    }

    /// Performs an operation, and receives its answers until it is cancelled.
    package func subscribe(_ operation: Operation) -> AnyCancellable {
        let subscription = execute(operation).sink { _ in }
        operations.send(operation)
        return subscription
    }

    /// The answers to one operation, which the caller sends after subscribing. SwiftGraphQL's client sends it itself,
    /// too early for immediate answers. Cancelling the subscription tears the operation down.
    private func execute(_ operation: Operation) -> Answers {
        answers
            .filter { $0.id == operation.id }
            .handleEvents(receiveCancel: { [operations] in
                var teardown = operation
                teardown.isTeardown = true
                operations.send(teardown)
            })
            .share()
            .eraseToAnyPublisher()
    }

    // MARK: - Exchanges

    package static func nothing(_ operations: Operations, _ next: (Operations) -> Answers) -> Answers {
        next(operations)
    }

    /// Observes operations and answers.
    package static func log(_ operations: Operations, _ next: (Operations) -> Answers) -> Answers {
        next(operations.handleEvents(receiveOutput: { _ in }).eraseToAnyPublisher())
            .handleEvents(receiveOutput: { _ in })
            .eraseToAnyPublisher()
    }

    /// Passes only operations that aren't active.
    package static func dedup() -> Exchange {
        var active: Set<String> = []
        return { operations, next in
            let passed = operations.filter { operation in
                if operation.isTeardown {
                    active.remove(operation.id)
                    return true
                }
                return active.insert(operation.id).inserted
            }
            return next(passed.share().eraseToAnyPublisher())
                .handleEvents(receiveOutput: { active.remove($0.id) })
                .eraseToAnyPublisher()
        }
    }

    /// Answers operations whose response is stored, and passes the others. Nothing is stored, so that each is sent.
    package static func cache() -> Exchange {
        let stored: [String: TransferResponse] = [:]
        return { operations, next in
            let shared = operations.share()
            let hits = shared.filter { !$0.isTeardown && stored[$0.id] != nil }
                .map { Answer(id: $0.id, response: stored[$0.id]) }
            let misses = shared.filter { $0.isTeardown || stored[$0.id] == nil }
            return merge(hits.eraseToAnyPublisher(), next(misses.eraseToAnyPublisher()))
        }
    }

    /// OpenCombine 0.14 has no `merge`.
    package static func merge(_ one: Answers, _ other: Answers) -> Answers {
        [one, other].publisher.flatMap { $0 }.eraseToAnyPublisher()
    }
}
