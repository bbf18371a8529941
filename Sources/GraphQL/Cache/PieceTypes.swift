import BeagleNet
import BeagleNetHTTP

/// Tells which types the pieces of an answer name, to interceptors that see no more of it than its head.
final class PieceTypes: Sendable {
    typealias Hearer = @Sendable (_ types: Set<String>) async -> Void

    private let hearers = Lock<[Hearer]>([])

    /// Whether anybody wants to know.
    var isHeard: Bool { hearers.withLock { !$0.isEmpty } }

    /// Tells somebody of each piece, before it is given, the types that none before it named.
    func hear(_ hearer: @escaping Hearer) {
        hearers.withLock { $0.append(hearer) }
    }

    /// Tells who wants to know, and waits until they have done with it.
    func tell(_ types: Set<String>) async {
        if types.isEmpty { return }
        for hearer in hearers.withLock({ $0 }) { await hearer(types) }
    }
}

extension NetworkOperation {
    private enum PieceTypesKey: ContextKey { static let defaultValue: PieceTypes? = nil }

    /// Who tells of the types in the pieces of its answer; nil where it comes whole.
    var pieceTypes: PieceTypes? {
        get { context[PieceTypesKey.self] }
        set { context[PieceTypesKey.self] = newValue }
    }
}
