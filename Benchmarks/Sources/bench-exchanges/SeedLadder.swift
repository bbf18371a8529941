import BeagleNet
import OpenCombine
import PublisherLadder

/// Operations of a client on publishers as the seed describes it, with an exchange at the bottom that answers at once.
struct Seed: Contestant {
    /// The exchanges above that one.
    enum Exchanges {
        case nothing
        /// Log, nothing, dedup, and a cache that has nothing.
        case mixed
    }

    /// Beside others each takes milliseconds.
    let count: Int
    let rounds = 5
    private let client: LadderClient
    private let samples: [LadderClient.Operation]
    private let waiting: [AnyCancellable]

    init(_ exchanges: Exchanges, active: Int) {
        count = active == 0 ? 5_000 : 50
        let client = LadderClient(exchanges.all + [Self.instant])
        self.client = client
        samples = (0..<64).map { Self.operation("sample-\($0)") }
        waiting = (0..<active).map { client.hear(Self.operation("waiting-\($0)")) }
    }

    func run(_ index: Int) throws {
        guard client.run(samples[index & 63]) else { throw NoAnswer() }
    }

    func end() { for hearing in waiting { hearing.cancel() } }

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

    private static func operation(_ id: String) -> LadderClient.Operation {
        LadderClient.Operation(id: id, message: message)
    }

    /// As the seed advises: shares, filters what it answers, hands on the rest, and merges what comes of both.
    private static func instant(
        _ operations: LadderClient.Operations,
        _ next: (LadderClient.Operations) -> LadderClient.Answers
    ) -> LadderClient.Answers {
        let shared = operations.share()
        let answered = shared.filter { !$0.isTeardown && !$0.id.hasPrefix("waiting") }
            .map { LadderClient.Answer(id: $0.id, response: response) }
        let others = shared.filter(\.isTeardown)
        return LadderClient.merge(answered.eraseToAnyPublisher(), next(others.eraseToAnyPublisher()))
    }
}

extension Seed.Exchanges {
    /// New ones: some keep what they saw.
    fileprivate var all: [LadderClient.Exchange] {
        switch self {
        case .nothing: Array(repeating: LadderClient.nothing, count: 4)
        case .mixed: [LadderClient.log, LadderClient.nothing, LadderClient.dedup(), LadderClient.cache()]
        }
    }
}
