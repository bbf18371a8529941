import BeagleNetHTTP

/// The right to send what is in a directory, which one process has at a time: the first queue that is sent takes it, and the
/// last lets it go.
final class OutboxRight: Sendable {
    struct State: Sendable {
        fileprivate var holders = 0
        /// Held while anything is sent.
        fileprivate var file: OpenFile?
    }

    /// Held while the file is opened and closed, as who takes the right next must not meet one that is still open. Who asks
    /// for it sends, and waits for the disk anyway.
    let state = Lock(State())
    private let files: OutboxFiles

    init(_ files: OutboxFiles) {
        self.files = files
    }

    /// Takes it, once more where this process has it.
    ///
    /// - Throws: that another process has it, or what is wrong with the directory.
    func take() throws(NetworkError) {
        try state.withLock { state throws(NetworkError) in
            if state.file == nil { state.file = try files.holdSending() }
            if state.file == nil { throw .heldByAnother }
            state.holders += 1
        }
    }

    /// Lets it go, as often as it was taken.
    ///
    /// - Returns: whether another process may have it now.
    func leave() -> Bool {
        state.withLock { state in
            state.holders -= 1
            if state.holders == 0 { state.file = nil }
            return state.holders == 0
        }
    }
}
