import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The types of stored query responses, and the current updates for them.
struct TrackedResponses {
    private struct Entry {
        let operation: NetworkOperation
        let types: Set<String>
        let time: Int
    }

    /// The logical time: the number of recorded events.
    private(set) var time = 0
    private let limit: Int
    private var entries: [NetworkOperation.Key: Entry] = [:]
    /// The last change of each type. A type that is not listed may have changed up to `changesSince`.
    private var changes: [String: Int] = [:]
    private var changesSince = 0
    private var updates: [(id: Int, responses: [NetworkOperation.Key: NetworkResponse])] = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Records the types of a response.
    ///
    /// - Parameter start: The logical time of the request.
    /// - Returns: The operations whose responses must be removed from the store: this one, if one of its types has
    ///   changed since the request, and the oldest ones, if the limit is exceeded.
    mutating func record(_ operation: NetworkOperation, _ types: Set<String>, since start: Int) -> [NetworkOperation] {
        guard let key = operation.key else { return [] }
        if types.contains(where: { (changes[$0] ?? changesSince) > start }) {
            entries[key] = nil
            return [operation]
        }
        time += 1
        entries[key] = Entry(operation: operation, types: types, time: time)
        guard entries.count > limit else { return [] }
        // Removes a quarter of the entries, so that sorting is rare.
        let oldest = entries.sorted { $0.value.time < $1.value.time }.prefix(max(1, limit / 4))
        for (key, _) in oldest { entries[key] = nil }
        return oldest.map(\.value.operation)
    }

    /// Removes the responses with these types.
    mutating func invalidate(_ types: Set<String>) -> [NetworkOperation] {
        time += 1
        for type in types { changes[type] = time }
        // A server may use any number of types. If they exceed the limit, responses to requests that started before now
        // count as outdated and aren't stored.
        if changes.count > limit { (changes, changesSince) = ([:], time) }
        let stale = entries.filter { !$0.value.types.isDisjoint(with: types) }
        for key in stale.keys { entries[key] = nil }
        return stale.values.map(\.operation)
    }

    func isTracked(_ operation: NetworkOperation) -> Bool { operation.key.map { entries[$0] != nil } ?? false }

    func operations(where matches: (NetworkOperation) -> Bool) -> [NetworkOperation] {
        entries.values.map(\.operation).filter(matches)
    }

    /// Returns the latest expected response.
    func optimisticResponse(for key: NetworkOperation.Key) -> NetworkResponse? {
        updates.last { $0.responses[key] != nil }?.responses[key]
    }

    mutating func addUpdate(_ responses: [NetworkOperation.Key: NetworkResponse]) -> Int {
        time += 1
        updates.append((time, responses))
        return time
    }

    /// - Returns: The keys of the responses that the optimistic update affected.
    mutating func removeUpdate(withID id: Int) -> Set<NetworkOperation.Key> {
        guard let index = updates.firstIndex(where: { $0.id == id }) else { return [] }
        return Set(updates.remove(at: index).responses.keys)
    }
}

extension Data {
    /// The values of all members named `__typename`.
    var typenames: Set<String> { withUnsafeBytes { $0[...].typenames } }

    /// Whether the bytes are a response with data.
    var isResponseWithData: Bool {
        do throws(JSONFault) {
            return try TopLevelMembers(self)["data"]?.kind == .object
        } catch {
            return false
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var typenames: Set<String> {
        let name = Array(#"__typename""#.utf8)
        let (quote, blank) = (UInt8(ascii: "\""), [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":")])
        var types: Set<String> = []
        var rest = self
        while let start = rest.firstIndex(of: quote) {
            rest = rest[(start + 1)...]
            guard rest.starts(with: name) else { continue }
            rest = rest.dropFirst(name.count).drop { blank.contains($0) }
            guard rest.first == quote else { continue }
            types.insert(String(decoding: rest.dropFirst().prefix { $0 != quote }, as: UTF8.self))
        }
        return types
    }
}
