import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Passes on the body of a streamed response, and stores it when the app has read all of it.
///
/// If the transfer ends early, or the app stops reading, the bytes so far are stored. A store that outlives the process
/// also gets them while they arrive, each time their number has doubled, so that the rest can be requested even after
/// the process was killed.
final class StreamRecording: Sendable {
    typealias Save = @Sendable (Data) async -> Void

    private struct State {
        var read: HTTPBody.Reader
        /// The bytes that come before those of the body and weren't passed on yet.
        var beginning: Data?
        /// The bytes so far; `nil` if they aren't stored.
        var bytes: Data?
        var part: PartialBody?
        /// The number of bytes at which they are saved while they arrive.
        var nextSave: Int
        var isOver = false
    }

    /// The fewest bytes that are worth a request for the rest.
    static let fewestBytes = 16 << 10
    /// The number of bytes at which they are saved for the first time while they arrive.
    private static let firstSave = 128 << 10

    private let state: Lock<State>
    private let maxBytes: Int
    private let savesEarly: Bool
    private let save: Save
    private let saveBeginning: Save?

    /// Starts recording.
    ///
    /// - Parameters:
    ///   - body: The body as it arrives.
    ///   - beginning: The bytes that come before it.
    ///   - part: The part that the body must be; `nil` if it is the whole.
    ///   - maxBytes: The most bytes to record; a larger body is only passed on.
    ///   - savesEarly: Whether the bytes are stored while they arrive.
    ///   - save: Stores the whole body.
    ///   - saveBeginning: Stores the bytes of a body that ended early; `nil` if its rest can't be requested.
    init(
        _ body: HTTPBody,
        after beginning: Data? = nil,
        _ part: PartialBody? = nil,
        maxBytes: Int,
        savesEarly: Bool,
        save: @escaping Save,
        saveBeginning: Save?
    ) {
        state = Lock(
            State(
                read: body.makeAsyncIterator().reader,
                beginning: beginning,
                bytes: beginning ?? Data(),
                part: part,
                nextSave: max(Self.firstSave, 2 * (beginning?.count ?? 0))
            )
        )
        (self.maxBytes, self.savesEarly) = (maxBytes, savesEarly)
        (self.save, self.saveBeginning) = (save, saveBeginning)
    }

    deinit {
        guard let saveBeginning, let bytes = state.withLock({ $0.isOver ? nil : $0.bytes }),
            bytes.count >= Self.fewestBytes
        else { return }
        Task { await saveBeginning(bytes) }
    }

    /// The next bytes; `nil` at the end.
    func next() async throws -> Data? {
        let (read, beginning) = state.withLock { state in
            defer { state.beginning = nil }
            return (state.read, state.beginning)
        }
        if let beginning, !beginning.isEmpty { return beginning }
        let chunk: Data?
        do {
            chunk = try await read()
            if let chunk { try take(chunk.count) } else { try end() }
        } catch {
            await saveRest()
            throw error
        }
        guard let chunk else {
            if let whole = finish() { await save(whole) }
            return nil
        }
        if let due = add(chunk) { await saveBeginning?(due) }
        return chunk
    }

    private func take(_ count: Int) throws(NetworkError) {
        try state.withLock { state throws(NetworkError) in try state.part?.take(count) }
    }

    private func end() throws(NetworkError) {
        try state.withLock { state throws(NetworkError) in try state.part?.finish() }
    }

    /// Adds bytes.
    ///
    /// - Returns: The bytes so far if they are due to be saved.
    private func add(_ chunk: Data) -> Data? {
        state.withLock { state in
            guard let count = state.bytes?.count else { return nil }
            guard count + chunk.count <= maxBytes else {
                state.bytes = nil
                return nil
            }
            state.bytes?.append(chunk)
            guard savesEarly, saveBeginning != nil, count + chunk.count >= state.nextSave else { return nil }
            state.nextSave = 2 * (count + chunk.count)
            return state.bytes
        }
    }

    private func finish() -> Data? {
        state.withLock { state in
            if state.isOver { return nil }
            state.isOver = true
            defer { state.bytes = nil }
            return state.bytes
        }
    }

    /// Saves the bytes of a body that ended early.
    private func saveRest() async {
        guard let bytes = finish(), bytes.count >= Self.fewestBytes else { return }
        await saveBeginning?(bytes)
    }
}
