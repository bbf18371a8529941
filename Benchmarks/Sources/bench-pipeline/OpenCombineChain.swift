import BeagleNet
import OpenCombine
import PublisherChain

/// A chain of four exchanges on publishers above the transport. For one thread only.
final class OpenCombineChain: MeasuredClient {
    private typealias Operation = PublisherClient.Operation
    private typealias Operations = PublisherClient.Operations
    private typealias Answer = PublisherClient.Answer
    private typealias Answers = PublisherClient.Answers

    let name = "OpenCombine chain"
    private let samples: [Operation]
    private let client = PublisherClient([
        PublisherClient.log, PublisherClient.dedup(), PublisherClient.cache(), Fetch().register,
    ])

    init() throws {
        samples = try Sample.instant.map(Self.operation)
    }

    /// Beside 10,000 others, each operation takes milliseconds.
    func count(beside active: Int) -> Int { active == 0 ? 20_000 : 50 }

    func transport() async throws -> Cost {
        let transport: any HTTPTransport = InstantTransport()
        return await .of(20_000) {
            for index in 0..<20_000 { _ = transport.perform(samples[index & 63].message) { _ in } }
        }
    }

    func run(_ index: Int) { client.run(samples[index & 63]) }

    func watch(_ index: Int) { client.subscribe(samples[index & 63]).cancel() }

    var progress: (() throws -> Void)? {
        { [client] in client.subscribe(try Self.operation(Sample.progress)).cancel() }
    }

    func wait(_ index: Int) throws -> () -> Void {
        let subscription = client.subscribe(try Self.operation(Sample.waiting(index)))
        return { subscription.cancel() }
    }

    private static func operation(_ path: String) throws -> Operation {
        Operation(id: path, message: try Sample.message(path))
    }

    /// Performs operations on the transport.
    private final class Fetch {
        private let transport = InstantTransport()
        private var tokens: [String: any RequestToken] = [:]

        func register(_ operations: Operations, _ next: (Operations) -> Answers) -> Answers {
            let shared = operations.share()
            let fetched = shared.filter { !$0.isTeardown }.flatMap { self.answers(of: $0) }
            let others = shared.filter(\.isTeardown).handleEvents(receiveOutput: { self.teardown($0.id) })
            return PublisherClient.merge(fetched.eraseToAnyPublisher(), next(others.eraseToAnyPublisher()))
        }

        private func answers(of operation: Operation) -> Answers {
            let received = Reference<[Answer]>([])
            var message = operation.message
            if operation.id == Sample.progress {
                message.onProgress = { _ in received.value.append(Answer(id: operation.id, response: nil)) }
            }
            let token = transport.perform(message) { result in
                if case .success(let response) = result {
                    received.value.append(Answer(id: operation.id, response: response))
                }
            }
            if received.value.isEmpty {
                tokens[operation.id] = token
                return Empty(completeImmediately: false).eraseToAnyPublisher()
            }
            return received.value.publisher.eraseToAnyPublisher()
        }

        private func teardown(_ id: String) {
            tokens.removeValue(forKey: id)?.cancel()
        }
    }

    /// A value that closures share.
    ///
    /// `@unchecked Sendable` is sound because each measurement calls its chain from one task, one call after the other,
    /// and the transport of this benchmark calls completions and progress on the caller's thread.
    private final class Reference<Value>: @unchecked Sendable {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }
}
