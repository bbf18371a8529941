import BeagleNet
import OpenCombine
import PublisherLadder

/// A ladder of publishers of four exchanges above the transport. On one thread only.
final class Ladder: Contestant {
    private typealias Operation = LadderClient.Operation
    private typealias Operations = LadderClient.Operations
    private typealias Answer = LadderClient.Answer
    private typealias Answers = LadderClient.Answers

    let name = "OpenCombine ladder"
    private let samples: [Operation]
    private let client = LadderClient([LadderClient.log, LadderClient.dedup(), LadderClient.cache(), Fetch().register])

    init() throws {
        samples = try Sample.instant.map(Self.operation)
    }

    /// Beside 10,000 others each costs milliseconds.
    func count(beside active: Int) -> Int { active == 0 ? 20_000 : 50 }

    func transport() async throws -> Tally {
        let transport: any HTTPTransport = InstantTransport()
        return await .of(20_000) {
            for index in 0..<20_000 { _ = transport.perform(samples[index & 63].message) { _ in } }
        }
    }

    func run(_ index: Int) { client.run(samples[index & 63]) }

    func watch(_ index: Int) { client.hear(samples[index & 63]).cancel() }

    var progress: (() throws -> Void)? {
        { [client] in client.hear(try Self.operation(Sample.progress)).cancel() }
    }

    func wait(_ index: Int) throws -> () -> Void {
        let hearing = client.hear(try Self.operation(Sample.waiting(index)))
        return { hearing.cancel() }
    }

    private static func operation(_ path: String) throws -> Operation {
        Operation(id: path, message: try Sample.message(path))
    }

    /// Asks the transport.
    private final class Fetch {
        private let transport = InstantTransport()
        private var tokens: [String: any RequestToken] = [:]

        func register(_ operations: Operations, _ next: (Operations) -> Answers) -> Answers {
            let shared = operations.share()
            let fetched = shared.filter { !$0.isTeardown }.flatMap { self.answers(of: $0) }
            let others = shared.filter(\.isTeardown).handleEvents(receiveOutput: { self.teardown($0.id) })
            return LadderClient.merge(fetched.eraseToAnyPublisher(), next(others.eraseToAnyPublisher()))
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

    /// `@unchecked Sendable` is sound because a ladder is on one thread.
    private final class Reference<Value>: @unchecked Sendable {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }
}
