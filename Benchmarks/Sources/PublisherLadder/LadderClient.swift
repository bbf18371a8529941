package import BeagleNet
package import OpenCombine

/// A client on publishers as SwiftGraphQL documents it: all operations go down in one stream, all results come up in another,
/// and each operation filters its own out of those. On one thread only.
///
/// It does less than SwiftGraphQL's: two who ask for the same share nothing, and nobody hears that a result has become stale.
package final class LadderClient {
    /// The operations on their way down.
    package struct Operation {
        package let id: String
        package let message: TransferRequest
        /// Whether nobody listens to it any more.
        package fileprivate(set) var isTeardown = false

        package init(id: String, message: TransferRequest) {
            self.id = id
            self.message = message
        }
    }

    /// The results on their way up.
    package struct Answer {
        package let id: String
        /// Nil in an event that is no result.
        package let response: TransferResponse?

        package init(id: String, response: TransferResponse?) {
            self.id = id
            self.response = response
        }
    }

    package typealias Operations = AnyPublisher<Operation, Never>
    package typealias Answers = AnyPublisher<Answer, Never>
    /// Is given what goes down and what to hand on to, and gives what comes up.
    package typealias Exchange = (Operations, (Operations) -> Answers) -> Answers

    private let operations = PassthroughSubject<Operation, Never>()
    private let answers: Answers
    /// Somebody always listens, so that the ladder is registered once.
    private var listener: AnyCancellable?

    /// - Parameter exchanges: the first is the top.
    package init(_ exchanges: [Exchange]) {
        let unhandled: (Operations) -> Answers = { $0.compactMap { _ in nil }.eraseToAnyPublisher() }
        let way = exchanges.reversed().reduce(unhandled) { next, exchange in { exchange($0, next) } }
        answers = way(operations.share().eraseToAnyPublisher()).share().eraseToAnyPublisher()
        listener = answers.sink { _ in }
    }

    /// Asks, and leaves with the first answer.
    ///
    /// - Returns: Whether the result was available without waiting.
    @discardableResult package func run(_ operation: Operation) -> Bool {
        var isAnswered = false
        let hearing = execute(operation).first().sink { _ in isAnswered = true }
        operations.send(operation)
        hearing.cancel()
        return isAnswered
    }

    /// Asks, and hears the answers until it is cancelled.
    package func hear(_ operation: Operation) -> AnyCancellable {
        let hearing = execute(operation).sink { _ in }
        operations.send(operation)
        return hearing
    }

    /// The answers to one operation, which is sent when they are listened to: SwiftGraphQL's sends it itself, too early to hear
    /// what is answered at once. Who stops listening tears it down.
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

    /// Looks at what passes.
    package static func log(_ operations: Operations, _ next: (Operations) -> Answers) -> Answers {
        next(operations.handleEvents(receiveOutput: { _ in }).eraseToAnyPublisher())
            .handleEvents(receiveOutput: { _ in })
            .eraseToAnyPublisher()
    }

    /// Lets pass what is not under way.
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

    /// Answers what it has, and lets the rest pass. It has nothing, as each answer here is asked for anew.
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
