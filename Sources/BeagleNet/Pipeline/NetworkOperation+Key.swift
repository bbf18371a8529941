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

        fileprivate init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        /// The bits.
        package var words: (high: UInt64, low: UInt64) { (high, low) }

        /// The low bits alone: they are as good a hash as both.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(low)
        }
    }

    /// What is asked, where that can be told without reading a file or a stream.
    ///
    /// - Parameters:
    ///   - person: whose credentials the message is given further on; 0 where it gets none.
    ///   - left: fields that do not count.
    func makeKey(_ transfer: TransferRequest, for person: Int, without left: [HTTPField] = []) -> Key? {
        guard isShared, transfer.delivery == .collect else { return nil }
        var data: Data?
        switch transfer.body?.content {
        case .data(let bytes): data = bytes
        case nil: break
        case .file, .stream: return nil
        }
        let hash = KeyHash.of { hash in
            if let data { hash.combine(data) } else { hash.combine(-1) }
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
        return Key(high: hash.high, low: hash.low)
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
