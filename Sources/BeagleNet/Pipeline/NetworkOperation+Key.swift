import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension NetworkOperation {
    /// Tells apart what operations ask: kind, partition, method, URL, fields, body, options that are not the default ones, and whose
    /// credentials they are given.
    ///
    /// 128 bits of a keyed hash with a seed of the process's own (SipHash), so that nobody outside can make two
    /// operations collide and give one person the answer of another. Not to be stored.
    public struct Key: Sendable, Hashable {
        private let high: UInt64
        private let low: UInt64

        /// - Parameter left: fields that do not count.
        fileprivate init(
            _ kind: Kind,
            _ partition: String,
            _ person: Int,
            _ transfer: TransferRequest,
            _ body: Data?,
            without left: [HTTPField]
        ) {
            (high, low) = KeyHash.of { hash in
                if let body { hash.combine(body) } else { hash.combine(-1) }
                hash.combine(kind.name)
                hash.combine(partition)
                hash.combine(transfer.head.method.rawValue)
                hash.combine(transfer.head.scheme ?? "")
                hash.combine(transfer.head.authority ?? "")
                hash.combine(transfer.head.path ?? "")
                for field in transfer.head.headerFields {
                    if !left.isEmpty, left.contains(field) { continue }
                    hash.combine(field.name.canonicalName)
                    hash.combine(field.value)
                }
                if person != 0 { hash.combine(person) }
                if !transfer.hasStandardOptions { transfer.options.combine(into: &hash) }
            }
        }

        /// The bits.
        package var words: (high: UInt64, low: UInt64) { (high, low) }

        /// The low bits alone: they are as good a hash as both.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(low)
        }
    }

    /// What an operation asks, as the client made it: the same for all who may share a run.
    ///
    /// Most are asked by one alone, so that there is no more to do here than a table needs, and two are compared where they meet.
    final class Question: Sendable {
        private let kind: Kind
        private let partition: String
        private let person: Int
        private let transfer: TransferRequest
        private let body: Data?
        private let bits: UInt64
        private let made = InlineLock<Key?>(nil)

        /// nil where it is not shared, or cannot be told without reading a file or a stream.
        ///
        /// - Parameter person: whose credentials the message is given further on; 0 where it gets none.
        static func of(_ operation: NetworkOperation, _ transfer: TransferRequest, for person: Int) -> Question? {
            guard operation.isShared, transfer.delivery == .collect, let body = transfer.body.known else { return nil }
            return Question(operation, transfer, body, person)
        }

        private init(_ operation: NetworkOperation, _ transfer: TransferRequest, _ body: Data?, _ person: Int) {
            (kind, partition) = (operation.kind, operation.partition)
            (self.person, self.transfer, self.body) = (person, transfer, body)
            bits = operation.bits(transfer, body, person)
        }

        /// Made where somebody wants it.
        var key: Key {
            made.withLock { made in
                if let made { return made }
                let key = Key(kind, partition, person, transfer, body, without: [])
                made = key
                return key
            }
        }
    }

    /// The key of another message of this operation; nil where it would have no question.
    ///
    /// - Parameter left: fields that do not count.
    func messageKey(of transfer: TransferRequest, without left: [HTTPField]) -> Key? {
        guard transfer.delivery == .collect, let body = transfer.body.known else { return nil }
        return Key(kind, partition, person, transfer, body, without: left)
    }

    /// A hash of the bytes in which the messages of a client mostly differ; method, scheme and names of fields it leaves to
    /// the comparison.
    private func bits(_ transfer: TransferRequest, _ body: Data?, _ person: Int) -> UInt64 {
        var hash = TableHash()
        hash.combine(UInt64(truncatingIfNeeded: person))
        hash.combine(partition)
        if let authority = transfer.head.authority { hash.combine(authority) }
        if let path = transfer.head.path { hash.combine(path) }
        if let body { hash.combine(body) }
        for field in transfer.head.headerFields { hash.combine(field.value) }
        return hash.bits
    }
}

extension NetworkOperation.Question: Hashable {
    static func == (one: NetworkOperation.Question, other: NetworkOperation.Question) -> Bool {
        one === other
            || one.bits == other.bits && one.person == other.person && one.partition == other.partition
                && one.kind.name == other.kind.name && one.body == other.body && one.transfer.isSent(as: other.transfer)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bits)
    }
}

extension TransferRequest {
    /// Whether the head and the options are those of another.
    fileprivate func isSent(as other: TransferRequest) -> Bool {
        let (one, two) = (head, other.head)
        return one.method == two.method && one.path == two.path && one.authority == two.authority
            && one.scheme == two.scheme && options == other.options
            && one.headerFields.elementsEqual(two.headerFields) { $0.name == $1.name && $0.value == $1.value }
    }
}

extension HTTPBody? {
    /// The bytes, none where there is no body; nil where only reading tells them.
    var known: Data?? {
        switch self?.content {
        case .data(let bytes): bytes
        case nil: .some(nil)
        case .file, .stream: nil
        }
    }
}

extension TransferOptions {
    /// Number by number, as a `Hasher` would have to look at all of them twice for as many bits.
    fileprivate func combine(into hash: inout KeyHash) {
        hash.combine(timeouts.resolve)
        hash.combine(timeouts.connect)
        hash.combine(timeouts.tls)
        hash.combine(timeouts.firstByte)
        hash.combine(timeouts.idle)
        hash.combine(timeouts.total)
        hash.combine(redirects.limit)
        hash.combine(redirects.allowsInsecure ? 1 : 0)
        hash.combine(maxBodyBytes ?? -1)
        hash.combine(version.rawValue)
        hash.combine(Int(priority.rawValue))
        if extras == nil, redirects.decide == nil { return }
        for half in 0...1 { hash.combine(hashed(half)) }
    }

    /// Of the same options, another 64 bits for each number.
    private func hashed(_ number: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(number)
        hasher.combine(self)
        return hasher.finalize()
    }
}

extension KeyHash {
    fileprivate mutating func combine(_ duration: Duration?) {
        guard let attoseconds = duration?.attoseconds else { return combine(0) }
        combine(1)
        combine(Int(truncatingIfNeeded: attoseconds))
        combine(Int(truncatingIfNeeded: attoseconds >> 64))
    }
}
