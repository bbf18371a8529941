import BeagleNetHTTP
import BeagleNet
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Operation {
    private static let mutations = Atomic<UInt64>(0)

    /// Returns an identifier for an operation: a 128-bit hash of its kind, URL, header fields, document, operation
    /// name, variables and extensions, before exchanges change them.
    ///
    /// Each mutation has a unique identifier.
    static func id(of kind: Kind, _ request: URLRequest, _ args: ExecutionArgs) -> String {
        let hash = KeyHash.of { hash in
            hash.combine(kind.rawValue)
            hash.combine(request.url?.absoluteString ?? "")
            let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
            hash.combine(fields.count)
            for (name, value) in fields {
                hash.combine(name)
                hash.combine(value)
            }
            hash.combine(args.query)
            hash.combine(args.operationName == nil ? 0 : 1)
            hash.combine(args.operationName ?? "")
            hash.combine(.object(args.variables ?? [:]))
            hash.combine(.object(args.extensions ?? [:]))
        }
        let id = text(hash)
        return kind == .mutation ? "\(id)-\(mutations.add(1, ordering: .relaxed).newValue)" : id
    }

    /// Returns the hash as hexadecimal digits.
    static func text(_ hash: (high: UInt64, low: UInt64)) -> String {
        String(unsafeUninitializedCapacity: 32) { bytes in
            for (index, half) in [hash.high, hash.low].enumerated() {
                for digit in 0..<16 {
                    let value = UInt8(truncatingIfNeeded: half >> (60 - 4 * digit)) & 0xF
                    bytes[index * 16 + digit] = value + (value < 10 ? 0x30 : 0x57)
                }
            }
            return 32
        }
    }
}

extension KeyHash {
    /// Adds a JSON value to the hash, independent of the order of its members.
    fileprivate mutating func combine(_ value: JSONValue) {
        switch value {
        case .null: combine(0)
        case .bool(let value): combine(value ? 2 : 1)
        case .integer(let number):
            combine(3)
            combine(Int(truncatingIfNeeded: number))
        case .number(let number):
            combine(4)
            combine(Int(truncatingIfNeeded: number.bitPattern))
        case .string(let text):
            combine(5)
            combine(text)
        case .array(let elements):
            combine(6)
            combine(elements.count)
            for element in elements { combine(element) }
        case .object(let members):
            combine(7)
            combine(members.count)
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                combine(name)
                combine(member)
            }
        }
    }
}
