import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Data {
    /// Whether this is a JSON object without a member of this name.
    ///
    /// A name with escapes counts as this one.
    ///
    /// It makes one pass over the bytes and allocates only the name. Inside of members, it looks only for their end.
    func isObject(without name: String) -> Bool {
        var scan = MemberScan(Array(name.utf8))
        let text = starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
        for byte in text {
            scan.take(byte)
            if scan.isDecided { return false }
        }
        return scan.isWholeObject
    }
}

/// A scan for a member of the outermost object.
private struct MemberScan {
    private let name: [UInt8]
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// Whether the next string at this depth is a member's name.
    private var expectsName = false
    /// The number of matching bytes of the name; `nil` if the string isn't a name, or is another one.
    private var matched: Int?
    private var isOver = false
    /// Whether the member was found, or the data isn't an object.
    private(set) var isDecided = false

    var isWholeObject: Bool { isOver }

    init(_ name: [UInt8]) {
        self.name = name
    }

    mutating func take(_ byte: UInt8) {
        if isInString { return takeInString(byte) }
        switch byte {
        case _ where byte.isJSONSpace: return
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            isDecided = isOver || depth == 0 && byte != UInt8(ascii: "{")
            depth += 1
            expectsName = depth == 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            isDecided = depth == 0
            depth -= 1
            isOver = depth == 0
        case UInt8(ascii: "\""):
            isDecided = depth == 0
            isInString = true
            matched = expectsName ? 0 : nil
            expectsName = false
        case UInt8(ascii: ","):
            isDecided = depth == 0
            expectsName = depth == 1
        default: isDecided = depth == 0
        }
    }

    private mutating func takeInString(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
            isDecided = matched != nil
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
            isDecided = matched == name.count
        } else if let length = matched {
            matched = length < name.count && name[length] == byte ? length + 1 : nil
        }
    }
}
