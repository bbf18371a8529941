import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkOperation {
    /// Tells apart what operations ask: kind, partition, method, URL, fields and body.
    ///
    /// 128 bits of two keyed hashes with a seed of the process's own (SipHash), so that nobody outside can make two
    /// operations collide and give one person the answer of another. Not to be stored.
    public struct Key: Sendable, Hashable {
        private let high: UInt64
        private let low: UInt64

        /// The key of parts.
        public init(_ combine: (inout Hasher) -> Void) {
            var first = Hasher()
            var second = Hasher()
            first.combine(0 as UInt8)
            second.combine(1 as UInt8)
            combine(&first)
            combine(&second)
            high = UInt64(bitPattern: Int64(first.finalize()))
            low = UInt64(bitPattern: Int64(second.finalize()))
        }

        /// The low bits alone: they are as good a hash as both.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(low)
        }
    }

    /// What is asked, where that can be told without reading a file or a stream.
    func makeKey() -> Key? {
        guard isShared, transfer.delivery == .collect else { return nil }
        let body = transfer.body
        if let body, body.data == nil { return nil }
        return Key { hasher in
            hasher.combine(kind)
            hasher.combine(partition)
            hasher.combine(transfer.head)
            hasher.combine(body?.data)
            hasher.combine(transfer.options)
        }
    }
}
