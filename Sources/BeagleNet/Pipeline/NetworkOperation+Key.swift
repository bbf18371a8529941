import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension NetworkOperation {
    /// Tells apart what operations ask: kind, partition, method, URL, fields and body.
    ///
    /// 128 bits of two keyed hashes with a seed of the process's own (SipHash), so that nobody outside can make two
    /// operations collide and give one person the answer of another. Not to be stored.
    public struct Key: Sendable, Hashable {
        private let high: UInt64
        private let low: UInt64

        fileprivate init(_ hash: KeyHash) {
            high = UInt64(bitPattern: Int64(hash.first.finalize()))
            low = UInt64(bitPattern: Int64(hash.second.finalize()))
        }

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
        var hash = KeyHash()
        switch transfer.body?.content {
        case .data(let data): hash.combine(data)
        case nil: hash.combine(count: -1)
        case .file, .stream: return nil
        }
        hash.combine(kind.name)
        hash.combine(partition)
        let head = transfer.head
        hash.combine(head.method.rawValue)
        hash.combine(head.scheme ?? "")
        hash.combine(head.authority ?? "")
        hash.combine(head.path ?? "")
        for field in head.headerFields where left.isEmpty || !left.contains(field) {
            hash.combine(field.name.canonicalName)
            hash.combine(field.value)
        }
        hash.combine(count: reportsProgress ? 1 : 0)
        if person != 0 { hash.combine(count: person) }
        if let deadline { hash.combine(count: deadline.hashValue) }
        if transfer.options != TransferOptions() { hash.combine(count: transfer.options.hashValue) }
        return Key(hash)
    }
}

/// Two keyed hashes of what an operation asks, each part with its length, so that no two lists of parts are the same.
private struct KeyHash {
    private(set) var first = Hasher()
    private(set) var second = Hasher()

    init() {
        first.combine(0 as UInt8)
        second.combine(1 as UInt8)
    }

    mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
    }

    mutating func combine(_ data: Data) {
        data.withUnsafeBytes { combine($0) }
    }

    mutating func combine(count: Int) {
        first.combine(count)
        second.combine(count)
    }

    private mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(count: bytes.count)
        first.combine(bytes: bytes)
        second.combine(bytes: bytes)
    }
}
