import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HTTPBody {
    /// Returns the same body.
    ///
    /// If it is streamed, closing the scope ends it, whether during a read or between reads.
    func read(in scope: OperationScope) -> HTTPBody {
        guard case .stream(let length, let isReplayable, let open) = content else { return self }
        let content = Content.stream(length: length, isReplayable: isReplayable) {
            let body = ScopedBody(open(), scope)
            return { try await body.read() }
        }
        return HTTPBody(content)
    }
}

/// A streamed body that ends when its scope is closed.
private final class ScopedBody: Sendable {
    private let reader: Lock<HTTPBody.Reader?>
    private let scope: OperationScope
    private let id = Lock<Int?>(nil)

    init(_ reader: @escaping HTTPBody.Reader, _ scope: OperationScope) {
        self.reader = Lock(reader)
        self.scope = scope
        let id = scope.add { [weak self] in self?.releaseReader() }
        self.id.withLock { $0 = id }
        if id == nil { releaseReader() }
    }

    deinit {
        if let id = id.withLock({ $0 }) { scope.remove(id) }
    }

    private func releaseReader() {
        let reader = reader.withLock { reader in
            defer { reader = nil }
            return reader
        }
        withExtendedLifetime(reader) {}
    }

    func read() async throws -> Data? {
        let work = ScopedWork()
        // Take ownership first, so that closing the scope from here on cancels the read.
        guard let id = scope.add({ work.cancel() }) else { throw NetworkError.scopeClosed }
        defer { scope.remove(id) }
        guard let reader = reader.withLock({ $0 }) else { throw NetworkError.scopeClosed }
        let task = Task { try await reader() }
        work.begin { task.cancel() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

extension NetworkError {
    static let scopeClosed = NetworkError(.cancelled, during: .body, "the scope was closed")
}
