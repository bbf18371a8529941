import BeagleNetHTTP

/// The lock that lets one process at a time send the entries of a directory.
///
/// The first queue to be sent acquires it, and the last one releases it.
final class OutboxSendLock: Sendable {
    struct State: Sendable {
        fileprivate var holders = 0
        /// The open lock file, held while anything is sent.
        fileprivate var file: OpenFile?
    }

    /// A lock that is held while the file is opened and closed, because a later process must not find it still open.
    ///
    /// Blocking is acceptable here: a caller that sends waits for the disk anyway.
    let state = Lock(State())
    private let files: OutboxFiles

    init(_ files: OutboxFiles) {
        self.files = files
    }

    /// Acquires the lock, or increments its count if this process already has it.
    ///
    /// - Throws: An error if another process has the lock, or if the directory can't be used.
    func acquire() throws(NetworkError) {
        try state.withLock { state throws(NetworkError) in
            if state.file == nil { state.file = try files.acquireSendLock() }
            if state.file == nil { throw .heldByAnother }
            state.holders += 1
        }
    }

    /// Releases the lock.
    ///
    /// Must be called as often as `acquire`.
    ///
    /// - Returns: Whether another process may acquire it now.
    func release() -> Bool {
        state.withLock { state in
            state.holders -= 1
            if state.holders == 0 { state.file = nil }
            return state.holders == 0
        }
    }
}
