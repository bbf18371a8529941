import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Of which types the answers to queries are, and what is expected of them meanwhile.
struct KnownAnswers {
    private struct Known {
        let operation: NetworkOperation
        let types: Set<String>
        let time: Int
    }

    /// Counts what happened.
    private(set) var time = 0
    private let limit: Int
    private var known: [NetworkOperation.Key: Known] = [:]
    /// When a type was changed last; of one that is not here it is not known to be later than `changesSince`.
    private var changes: [String: Int] = [:]
    private var changesSince = 0
    private var expectations: [(id: Int, answers: [NetworkOperation.Key: NetworkResponse])] = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Notes the types of an answer.
    ///
    /// - Parameter start: when it was asked for.
    /// - Returns: what must not be stored any more: this one, where something of it was changed since, and what there is no
    ///   room to know.
    mutating func learn(_ operation: NetworkOperation, _ types: Set<String>, since start: Int) -> [NetworkOperation] {
        guard let key = operation.key else { return [] }
        if types.contains(where: { (changes[$0] ?? changesSince) > start }) {
            known[key] = nil
            return [operation]
        }
        time += 1
        known[key] = Known(operation: operation, types: types, time: time)
        guard known.count > limit else { return [] }
        // A quarter at once, so that it is seldom looked for.
        let oldest = known.sorted { $0.value.time < $1.value.time }.prefix(max(1, limit / 4))
        for (key, _) in oldest { known[key] = nil }
        return oldest.map(\.value.operation)
    }

    /// Takes away what is known of answers with these types.
    mutating func invalidate(_ types: Set<String>) -> [NetworkOperation] {
        time += 1
        for type in types { changes[type] = time }
        // A server may name as many as it likes. What is asked for now counts as outdated then, and is not stored.
        if changes.count > limit { (changes, changesSince) = ([:], time) }
        let stale = known.filter { !$0.value.types.isDisjoint(with: types) }
        for key in stale.keys { known[key] = nil }
        return stale.values.map(\.operation)
    }

    func knows(_ operation: NetworkOperation) -> Bool { operation.key.map { known[$0] != nil } ?? false }

    func operations(where isMeant: (NetworkOperation) -> Bool) -> [NetworkOperation] {
        known.values.map(\.operation).filter(isMeant)
    }

    /// The newest of what is expected.
    func expected(for key: NetworkOperation.Key) -> NetworkResponse? {
        expectations.last { $0.answers[key] != nil }?.answers[key]
    }

    mutating func expect(_ answers: [NetworkOperation.Key: NetworkResponse]) -> Int {
        time += 1
        expectations.append((time, answers))
        return time
    }

    /// - Returns: which answers it was about.
    mutating func forget(expectation id: Int) -> Set<NetworkOperation.Key> {
        guard let index = expectations.firstIndex(where: { $0.id == id }) else { return [] }
        return Set(expectations.remove(at: index).answers.keys)
    }
}

extension Data {
    /// The values of all members named `__typename`.
    var typenames: Set<String> { withUnsafeBytes { $0[...].typenames } }

    /// Whether it is an answer that has data.
    var isAnswerWithData: Bool {
        do throws(JSONFault) {
            return try AnswerMembers(self)["data"]?.kind == .object
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
