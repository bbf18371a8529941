import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Finds the members of an answer and of its data in one pass, and sees to it that all has the grammar of JSON. Whether text is
/// UTF-8, who makes values finds out.
struct AnswerMembers {
    enum Kind { case object, null, other }

    struct Member {
        let name: String
        let kind: Kind
        /// Where the value is, from the first byte of the body.
        let range: Range<Int>
    }

    private(set) var isObject = false
    private(set) var members: [Member] = []
    /// The members of `data`.
    private(set) var ofData: [Member] = []

    /// The last of this name, as decoders take it.
    subscript(name: String) -> Member? { members.last { $0.name == name } }

    /// - Throws: `JSONFault` where it is no JSON.
    init(_ data: Data) throws(JSONFault) {
        var fault: JSONFault?
        data.withUnsafeBytes { bytes in
            do throws(JSONFault) {
                try read(bytes.bindMemory(to: UInt8.self))
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONFault) {
        var scanner = JSONScanner(bytes)
        scanner.passByteOrderMark()
        isObject = scanner.peek() == UInt8(ascii: "{")
        if isObject {
            try scanner.object { (scanner, name) throws(JSONFault) in
                let name = scanner.string(name)
                members.append(name == "data" ? try readData(&scanner) : try Self.member(name, &scanner))
            }
        } else {
            _ = try scanner.value()
        }
        try scanner.finish()
    }

    /// One of the same name that came before does not count.
    private mutating func readData(_ scanner: inout JSONScanner) throws(JSONFault) -> Member {
        ofData = []
        guard scanner.peek() == UInt8(ascii: "{") else { return try Self.member("data", &scanner) }
        let start = scanner.index
        try scanner.object { (scanner, name) throws(JSONFault) in
            ofData.append(try Self.member(scanner.string(name), &scanner))
        }
        return Member(name: "data", kind: .object, range: start..<scanner.index)
    }

    private static func member(_ name: String, _ scanner: inout JSONScanner) throws(JSONFault) -> Member {
        let kind: Kind =
            switch scanner.peek() {
            case UInt8(ascii: "{"): .object
            case UInt8(ascii: "n"): .null
            default: .other
            }
        return Member(name: name, kind: kind, range: try scanner.value())
    }
}
