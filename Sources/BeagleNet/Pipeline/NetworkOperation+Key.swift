import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension NetworkOperation {
    /// An identifier of an operation's request.
    ///
    /// Two operations with the same key may share a response.
    ///
    /// It covers the kind, partition, method, URL, fields, body, options that differ from the defaults except the
    /// priority, and the owner of the credentials. It is a 128-bit keyed hash (SipHash) with a seed of this process, so that an attacker can't
    /// construct colliding operations to give one user the response of another. It must not be stored.
    public struct Key: Sendable, Hashable {
        private let high: UInt64
        private let low: UInt64

        /// - Parameter left: Fields to leave out.
        fileprivate init(
            _ kind: Kind,
            _ partition: String,
            _ credentialOwner: Int,
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
                if credentialOwner != 0 { hash.combine(credentialOwner) }
                if !transfer.hasStandardOptions { transfer.options.combine(into: &hash) }
            }
        }

        /// The bits.
        package var words: (high: UInt64, low: UInt64) { (high, low) }

        /// Hashes the low bits only, which distinguish keys as well as all bits would.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(low)
        }
    }

    /// The content of an operation, as the client made it.
    ///
    /// It is the same for all operations that may share a run.
    ///
    /// Few operations have an identical one in flight, so that creating its compared content only computes a cheap
    /// table hash. Full comparisons happen only when hashes meet.
    final class ComparedContent: Sendable {
        private let kind: Kind
        private let partition: String
        private let credentialOwner: Int
        private let transfer: TransferRequest
        private let body: Data?
        private let bits: UInt64
        private let made = InlineLock<Key?>(nil)

        /// Returns the operation's compared content; `nil` if the operation isn't shared, if its response is streamed,
        /// or if its body is a file or a stream.
        ///
        /// - Parameters:
        ///   - partition: The partition of the operation or else of the client.
        ///   - credentialOwner: The number of the user whose credentials the message gets later; 0 for none.
        static func of(
            _ operation: NetworkOperation,
            _ transfer: TransferRequest,
            _ partition: String,
            for credentialOwner: Int
        ) -> ComparedContent? {
            guard operation.isShared, transfer.delivery == .collect, let body = transfer.body.known else { return nil }
            return ComparedContent(operation.kind, transfer, body, partition, credentialOwner)
        }

        private init(
            _ kind: Kind,
            _ transfer: TransferRequest,
            _ body: Data?,
            _ partition: String,
            _ credentialOwner: Int
        ) {
            (self.kind, self.partition, self.credentialOwner) = (kind, partition, credentialOwner)
            (self.transfer, self.body) = (transfer, body)
            bits = Self.bits(transfer, body, partition, credentialOwner)
        }

        /// Returns a hash of the bytes in which a client's messages usually differ. The method, the scheme and the
        /// names of fields are only compared.
        private static func bits(
            _ transfer: TransferRequest,
            _ body: Data?,
            _ partition: String,
            _ credentialOwner: Int
        ) -> UInt64 {
            var hash = TableHash()
            hash.combine(UInt64(truncatingIfNeeded: credentialOwner))
            hash.combine(partition)
            if let authority = transfer.head.authority { hash.combine(authority) }
            if let path = transfer.head.path { hash.combine(path) }
            if let body { hash.combine(body) }
            for field in transfer.head.headerFields { hash.combine(field.value) }
            return hash.bits
        }

        /// The key, which is computed on first use.
        var key: Key {
            made.withLock { made in
                if let made { return made }
                let key = Key(kind, partition, credentialOwner, transfer, body, without: [])
                made = key
                return key
            }
        }
    }

    /// Returns the key of another message of this operation, or `nil` if the message would have no compared content.
    ///
    /// - Parameter left: Fields to leave out.
    func messageKey(of transfer: TransferRequest, without left: [HTTPField]) -> Key? {
        guard transfer.delivery == .collect || transfer.delivery == .stream, let body = transfer.body.known else {
            return nil
        }
        return Key(kind, partition, credentialOwner, transfer, body, without: left)
    }

}

extension NetworkOperation.ComparedContent: Hashable {
    static func == (one: NetworkOperation.ComparedContent, other: NetworkOperation.ComparedContent) -> Bool {
        one === other
            || one.bits == other.bits && one.credentialOwner == other.credentialOwner
                && one.partition == other.partition
                && one.kind.name == other.kind.name && one.body == other.body && one.transfer.isSent(as: other.transfer)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bits)
    }
}

extension TransferRequest {
    /// Whether the head and the options equal those of another message.
    fileprivate func isSent(as other: TransferRequest) -> Bool {
        let (one, two) = (head, other.head)
        return one.method == two.method && one.path == two.path && one.authority == two.authority
            && one.scheme == two.scheme && options.isEqualExceptPriority(to: other.options)
            && one.headerFields.elementsEqual(two.headerFields) { $0.name == $1.name && $0.value == $1.value }
    }
}

extension HTTPBody? {
    /// The bytes, which are `nil` if there is no body; the outer `nil` if the body is a file or a stream.
    var known: Data?? {
        switch self?.content {
        case .data(let bytes): bytes
        case nil: .some(nil)
        case .file, .stream: nil
        }
    }
}

extension TransferOptions {
    fileprivate func isEqualExceptPriority(to other: TransferOptions) -> Bool {
        if priority == other.priority { return self == other }
        var other = other
        other.priority = priority
        return self == other
    }

    /// Combines each number by itself: a `Hasher` would have to read all of them twice for as many bits.
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
        if extras == nil, redirects.decide == nil { return }
        for half in 0...1 { hash.combine(hashed(half)) }
    }

    /// Returns another 64-bit hash of the same options for each number.
    private func hashed(_ number: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(number)
        var options = self
        options.priority = .normal
        hasher.combine(options)
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
