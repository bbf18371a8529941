/// Stores responses for a `CacheInterceptor`: for each key, the variants that its `Vary` fields tell apart.
///
/// The functions are async because a disk may be slow, and run on the caller's executor. A store that fails has nothing
/// stored, and reports the failure by itself. Decisions such as whether a response is fresh aren't made here.
public protocol ResponseStore: Sendable {
    /// The part of the store that is in memory and responds without waiting; `nil`, the default, if the store has no
    /// such part.
    var memory: MemoryResponseStore? { get }

    /// The number of calls of `removeAll(of:)` and `removeAll()` so far. A cache doesn't store a response that was
    /// requested before such a call. If it is always 0, the default, a response that arrives after its user signed out
    /// may still be stored.
    var removals: Int { get }

    /// Whether a response can be stored. A store that outlives the process accepts persistent keys only.
    ///
    /// - Parameters:
    ///   - key: The key of the response.
    ///   - byteCount: The size of its body in bytes.
    func accepts(_ key: ResponseKey, byteCount: Int) -> Bool

    /// Converts the value of a selecting field to the form in which responses of this store hold it: a keyed digest in
    /// a store that outlives the process. By default the value itself.
    func digest(_ value: String) -> String

    /// The stored responses of a key.
    nonisolated(nonsending) func responses(for key: ResponseKey) async -> [StoredResponse]

    /// Stores a response in the place of one that has the same selecting fields. A store may hold as few responses of a
    /// key as it likes; those here hold eight.
    nonisolated(nonsending) func insert(_ response: StoredResponse, for key: ResponseKey) async

    /// Removes the responses of a key.
    nonisolated(nonsending) func remove(_ key: ResponseKey) async

    /// Removes the responses of an origin that a user has.
    ///
    /// - Parameter key: A key of the origin and the user, whose target doesn't matter.
    nonisolated(nonsending) func removeAll(ofOriginOf key: ResponseKey) async

    /// Removes the responses of a user, as after signing out.
    ///
    /// - Parameter partition: The user, as operations name it.
    nonisolated(nonsending) func removeAll(of partition: String) async

    /// Removes all responses.
    nonisolated(nonsending) func removeAll() async
}

extension ResponseStore {
    /// Nothing in memory.
    public var memory: MemoryResponseStore? { nil }
    /// Doesn't count.
    public var removals: Int { 0 }
    /// All keys and sizes.
    public func accepts(_ key: ResponseKey, byteCount: Int) -> Bool { true }
    /// The value itself.
    public func digest(_ value: String) -> String { value }
}
