import BeagleNet
import OpenCombine

/// Four exchanges of publishers, put together as SwiftGraphQL's client does it: one stream of all operations goes down,
/// one of all results comes up, and each operation picks its own out of that. On one thread only.
final class Ladder: Contestant {
    private struct Operation {
        let id: String
        let message: TransferRequest
        var isTeardown = false
    }

    private struct Answer {
        let id: String
        let response: TransferResponse?
    }

    private typealias Operations = AnyPublisher<Operation, Never>
    private typealias Answers = AnyPublisher<Answer, Never>
    private typealias Exchange = (Operations, (Operations) -> Answers) -> Answers

    let name = "OpenCombine ladder"
    private let samples: [Operation]
    private let operations = PassthroughSubject<Operation, Never>()
    private let answers: Answers
    private let fetch = Fetch()
    private var subscription: AnyCancellable?

    init() throws {
        samples = try Sample.instant.map { Operation(id: $0, message: try Sample.message($0)) }
        let exchanges: [Exchange] = [Self.log, Self.dedup(), Self.cache(), fetch.register]
        let unhandled: (Operations) -> Answers = { $0.compactMap { _ in nil }.eraseToAnyPublisher() }
        let way = exchanges.reversed().reduce(unhandled) { next, exchange in { exchange($0, next) } }
        answers = way(operations.share().eraseToAnyPublisher()).share().eraseToAnyPublisher()
        subscription = answers.sink { _ in }
    }

    /// Beside 10,000 others each costs milliseconds.
    func count(beside active: Int) -> Int { active == 0 ? 20_000 : 50 }

    func transport() async throws -> Tally {
        let transport: any HTTPTransport = InstantTransport()
        return await .of(20_000) {
            for index in 0..<20_000 { _ = transport.perform(samples[index & 63].message) { _ in } }
        }
    }

    func run(_ index: Int) {
        let sample = samples[index & 63]
        let hearing = source(sample).first().sink { _ in }
        operations.send(sample)
        hearing.cancel()
    }

    func watch(_ index: Int) {
        let sample = samples[index & 63]
        let hearing = source(sample).sink { _ in }
        operations.send(sample)
        hearing.cancel()
    }

    var progress: (() throws -> Void)? {
        { [self] in
            let operation = Operation(id: Sample.progress, message: try Sample.message(Sample.progress))
            let hearing = source(operation).sink { _ in }
            operations.send(operation)
            hearing.cancel()
        }
    }

    func wait(_ index: Int) throws -> () -> Void {
        let path = Sample.waiting(index)
        let operation = Operation(id: path, message: try Sample.message(path))
        let hearing = source(operation).sink { _ in }
        operations.send(operation)
        return { hearing.cancel() }
    }

    /// The results of one operation; who stops listening tears it down.
    private func source(_ operation: Operation) -> Answers {
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

    private static func log(_ operations: Operations, _ next: (Operations) -> Answers) -> Answers {
        next(operations.handleEvents(receiveOutput: { _ in }).eraseToAnyPublisher())
            .handleEvents(receiveOutput: { _ in })
            .eraseToAnyPublisher()
    }

    /// Lets pass what is not under way.
    private static func dedup() -> Exchange {
        let active = Reference<Set<String>>([])
        return { operations, next in
            let passed = operations.filter { operation in
                if operation.isTeardown {
                    active.value.remove(operation.id)
                    return true
                }
                return active.value.insert(operation.id).inserted
            }
            return next(passed.share().eraseToAnyPublisher())
                .handleEvents(receiveOutput: { active.value.remove($0.id) })
                .eraseToAnyPublisher()
        }
    }

    /// Answers what it has, and lets the rest pass. It has nothing, as each answer here is asked for anew.
    private static func cache() -> Exchange {
        let stored = Reference<[String: TransferResponse]>([:])
        return { operations, next in
            let shared = operations.share()
            let hits = shared.filter { !$0.isTeardown && stored.value[$0.id] != nil }
                .map { Answer(id: $0.id, response: stored.value[$0.id]) }
            let misses = shared.filter { $0.isTeardown || stored.value[$0.id] == nil }
            return merge(hits.eraseToAnyPublisher(), next(misses.eraseToAnyPublisher()))
        }
    }

    /// Asks the transport.
    private final class Fetch {
        private let transport = InstantTransport()
        private var tokens: [String: any RequestToken] = [:]

        func register(_ operations: Operations, _ next: (Operations) -> Answers) -> Answers {
            let shared = operations.share()
            let fetched = shared.filter { !$0.isTeardown }.flatMap { self.answers(of: $0) }
            let others = shared.filter(\.isTeardown).handleEvents(receiveOutput: { self.teardown($0.id) })
            return merge(fetched.eraseToAnyPublisher(), next(others.eraseToAnyPublisher()))
        }

        private func answers(of operation: Operation) -> Answers {
            let came = Reference<[Answer]>([])
            var message = operation.message
            if operation.id == Sample.progress {
                message.onProgress = { _ in came.value.append(Answer(id: operation.id, response: nil)) }
            }
            let token = transport.perform(message) { result in
                if case .success(let response) = result {
                    came.value.append(Answer(id: operation.id, response: response))
                }
            }
            if came.value.isEmpty {
                tokens[operation.id] = token
                return Empty(completeImmediately: false).eraseToAnyPublisher()
            }
            return came.value.publisher.eraseToAnyPublisher()
        }

        private func teardown(_ id: String) {
            tokens.removeValue(forKey: id)?.cancel()
        }
    }

    /// OpenCombine 0.14 has no `merge`.
    private static func merge(_ one: Answers, _ other: Answers) -> Answers {
        [one, other].publisher.flatMap { $0 }.eraseToAnyPublisher()
    }

    /// `@unchecked Sendable` is sound because a ladder is on one thread.
    private final class Reference<Value>: @unchecked Sendable {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }
}
