import BeagleNet
import OpenCombine
import PublisherChain

/// Operations of a client on publishers as the seed describes it, the last exchange of which answers immediately.
struct Seed: MeasuredClient {
    /// The exchanges above the last one.
    enum Exchanges {
        case nothing
        /// Log, nothing, dedup, and an empty cache.
        case mixed
    }

    /// The number of operations in a round. Beside others, each takes milliseconds.
    let count: Int
    let rounds = 5
    private let client: PublisherClient
    private let samples: [PublisherClient.Operation]
    private let waiting: [AnyCancellable]

    init(_ exchanges: Exchanges, active: Int) {
        count = active == 0 ? 5_000 : 50
        let client = PublisherClient(exchanges.all + [Self.instant])
        self.client = client
        samples = (0..<64).map { Self.operation("sample-\($0)") }
        waiting = (0..<active).map { client.subscribe(Self.operation("waiting-\($0)")) }
    }

    func run(_ index: Int) throws {
        guard client.run(samples[index & 63]) else { throw NoAnswer() }
    }

    func end() { for subscription in waiting { subscription.cancel() } }

    struct NoAnswer: Error {}

    private static let message = TransferRequest(
        HTTPRequest(method: .post, scheme: "http", authority: "host", path: "/graphql"),
        body: HTTPBody(#"{"query":"{ a }"}"#)
    )
    private static let response = TransferResponse(
        head: HTTPResponse(status: .ok),
        body: HTTPBody(#"{"data":{"a":1}}"#),
        url: "http://host/"
    )

    private static func operation(_ id: String) -> PublisherClient.Operation {
        PublisherClient.Operation(id: id, message: message)
    }

    /// Shares the stream, answers some operations, passes on the others, and merges the results, as the seed advises.
    private static func instant(
        _ operations: PublisherClient.Operations,
        _ next: (PublisherClient.Operations) -> PublisherClient.Answers
    ) -> PublisherClient.Answers {
        let shared = operations.share()
        let answered = shared.filter { !$0.isTeardown && !$0.id.hasPrefix("waiting") }
            .map { PublisherClient.Answer(id: $0.id, response: response) }
        let others = shared.filter(\.isTeardown)
        return PublisherClient.merge(answered.eraseToAnyPublisher(), next(others.eraseToAnyPublisher()))
    }
}

extension Seed.Exchanges {
    /// New exchanges, because some have state.
    fileprivate var all: [PublisherClient.Exchange] {
        switch self {
        case .nothing: Array(repeating: PublisherClient.nothing, count: 4)
        case .mixed: [PublisherClient.log, PublisherClient.nothing, PublisherClient.dedup(), PublisherClient.cache()]
        }
    }
}
