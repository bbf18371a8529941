import BeagleNet
import BeagleNetHTTP

/// Reports the types in the parts of an incremental response to interceptors, which only see its head.
final class PieceTypes: Sendable {
    typealias Hearer = @Sendable (_ types: Set<String>) async -> Void

    private let hearers = Lock<[Hearer]>([])

    /// Whether there are any subscribers.
    var isHeard: Bool { hearers.withLock { !$0.isEmpty } }

    /// Adds a subscriber. Before each part is delivered, it receives the types that no earlier part contained.
    func hear(_ hearer: @escaping Hearer) {
        hearers.withLock { $0.append(hearer) }
    }

    /// Notifies the subscribers and waits for them.
    func tell(_ types: Set<String>) async {
        if types.isEmpty { return }
        for hearer in hearers.withLock({ $0 }) { await hearer(types) }
    }
}

extension NetworkOperation {
    private enum PieceTypesKey: ContextKey { static let defaultValue: PieceTypes? = nil }

    /// The reporter of the types in an incremental response; `nil` if the response isn't incremental.
    var pieceTypes: PieceTypes? {
        get { context[PieceTypesKey.self] }
        set { context[PieceTypesKey.self] = newValue }
    }
}
