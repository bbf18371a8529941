import BeagleNetHTTP

extension HTTPBody {
    /// Returns the same body, which, if it is streamed, calls `onEnd` once when it ends.
    ///
    /// - Parameter onEnd: Receives the number of bytes read, and the error that ended the body, or `nil` at the regular
    ///   end.
    package func onEnd(_ onEnd: @escaping @Sendable (Int64, NetworkError?) -> Void) -> HTTPBody {
        guard case .stream(let length, let isReplayable, let open) = content else { return self }
        let end = BodyEndObserver(onEnd)
        let content = Content.stream(length: length, isReplayable: isReplayable) {
            let read = open()
            return { try await end.watch(read) }
        }
        return HTTPBody(content)
    }
}

/// The first end of a body, which it reports once; it is released after the last reader.
private final class BodyEndObserver: Sendable {
    private struct State {
        var count: Int64 = 0
        var isReported = false
    }

    private let state = Lock(State())
    private let onEnd: @Sendable (Int64, NetworkError?) -> Void

    init(_ onEnd: @escaping @Sendable (Int64, NetworkError?) -> Void) {
        self.onEnd = onEnd
    }

    deinit {
        end(NetworkError(.cancelled, during: .body, "the body was discarded before its end"))
    }

    func watch(_ read: HTTPBody.Reader) async throws -> Data? {
        do {
            guard let chunk = try await read() else {
                end(nil)
                return nil
            }
            state.withLock { $0.count += Int64(chunk.count) }
            return chunk
        } catch {
            end(NetworkError(wrapping: error))
            throw error
        }
    }

    private func end(_ error: NetworkError?) {
        let count: Int64? = state.withLock { state in
            defer { state.isReported = true }
            return state.isReported ? nil : state.count
        }
        if let count { onEnd(count, error) }
    }
}
