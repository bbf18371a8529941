/// A decoder that behaves like a `JSONDecoder` with its default strategies.
///
/// If a name repeats, the first member counts; `1.0` is accepted as an integer; data is Base64; dates are seconds since
/// 2001. There are two differences: an unpaired surrogate becomes U+FFFD, and a `JSONValue` accepts numbers of any
/// size, as `JSONValue(parsing:)` does.
///
/// A `JSONDecoder` builds a dictionary for each object and the paths of its errors in advance. This decoder searches
/// for members in the text, and builds a path only when it is needed.
package struct TapeDecoder {
    let tape: JSONTape
    /// The entry of the value.
    let index: Int

    /// Decodes a value from a text.
    ///
    /// - Throws: `DecodingError`.
    package static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let tape: JSONTape
        do {
            tape = try JSONTape(data)
        } catch {
            // `JSONDecoder` supports encodings other than UTF-8, and reports the error.
            return try JSONDecoder().decode(type, from: data)
        }
        return try tape.reading { try TapeDecoder(tape: tape, index: 0).value(type) }
    }

    /// Decodes a value from a part of a text.
    ///
    /// - Throws: `DecodingError`, whose path begins at that part.
    package static func decode<Value: Decodable>(
        _ type: Value.Type,
        from tape: JSONTape,
        at index: Int
    ) throws -> Value {
        let part = JSONTape(tape, at: index)
        return try part.reading { try TapeDecoder(tape: part, index: index).value(type) }
    }

    var entry: JSONTape.Entry { tape[index] }

    /// Decodes the value as this type.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let special = try special(type), let value = special as? Value { return value }
        return try Value(from: self)
    }

    /// Decodes the types that don't describe their JSON form themselves, or that could only find it by trial and error.
    private func special(_ type: Any.Type) throws -> Any? {
        if type == JSONValue.self { return try json() }
        if type == URL.self {
            do {
                return try URLReference(try decode(String.self)).url()
            } catch is NetworkError {
                throw tape.corrupted(index, "the text is not a URL")
            }
        }
        if type == Data.self {
            guard let data = Data(base64Encoded: try decode(String.self)) else {
                throw tape.corrupted(index, "the text is not Base64")
            }
            return data
        }
        if type == Decimal.self { return try number(Decimal.self) }
        return nil
    }

    /// Decodes the value as a `JSONValue`.
    private func json() throws -> JSONValue {
        switch entry.kind {
        case .objectStart:
            var members: [String: JSONValue] = [:]
            for name in tape.children(of: index) {
                let value = try TapeDecoder(tape: tape, index: name + 1).json()
                let name = try tape.string(at: name)
                if members.index(forKey: name) == nil { members[name] = value }
            }
            return .object(members)
        case .arrayStart:
            return .array(try tape.children(of: index).map { try TapeDecoder(tape: tape, index: $0).json() })
        case .number:
            if let number: Int64 = tape.integer(at: index) { return .integer(number) }
            // In this range a `Double` represents every integer exactly.
            let number = Double(json: try tape.string(at: index))
            if number.isNormal, number.magnitude < 0x1p53 {
                return Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
            }
            if let number = try? self.number(Int64.self) { return .integer(number) }
            return .number(number)
        case .true, .false: return .bool(entry.kind == .true)
        case .null: return .null
        default: return .string(try tape.string(at: index))
        }
    }

    /// Decodes the value as a tree that keeps numbers as they are written.
    func tree() throws -> JSONTree {
        switch entry.kind {
        case .objectStart:
            var members: [String: JSONTree] = [:]
            for name in tape.children(of: index) {
                members[try tape.string(at: name)] = try TapeDecoder(tape: tape, index: name + 1).tree()
            }
            return .object(members)
        case .arrayStart:
            return .array(try tape.children(of: index).map { try TapeDecoder(tape: tape, index: $0).tree() })
        case .number: return .literal(try tape.string(at: index))
        default: return .value(try json())
        }
    }

    /// Decodes a number that isn't just a row of digits, with the rules of a `JSONDecoder`.
    private func number<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard entry.kind == .number else { throw tape.mismatch(type, at: index) }
        do {
            return try JSONDecoder().decode(type, from: tape.raw(at: index))
        } catch {
            throw tape.corrupted(index, "the number does not fit in \(type)")
        }
    }

    func integer<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
        guard entry.kind == .number else { throw tape.mismatch(type, at: index) }
        return try tape.integer(at: index) ?? number(type)
    }

    func fraction<Value: BinaryFloatingPoint & LosslessStringConvertible & Decodable>(
        _ type: Value.Type
    ) throws -> Value {
        guard entry.kind == .number else { throw tape.mismatch(type, at: index) }
        let text = try tape.string(at: index)
        // Numbers that are too small or too large are rejected.
        if let value = Value(text), value.isNormal || value.isZero && text.isZero { return value }
        return try number(type)
    }
}

extension String {
    /// Whether all digits in the text are zero.
    fileprivate var isZero: Bool { utf8.allSatisfy { $0 < UInt8(ascii: "1") || $0 > UInt8(ascii: "9") } }
}

extension TapeDecoder: Decoder {
    package var codingPath: [any CodingKey] { tape.path(to: index) }
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    package func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try KeyedTape<Key>(self))
    }

    package func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try UnkeyedTape(self) }

    package func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension TapeDecoder: SingleValueDecodingContainer {
    package func decodeNil() -> Bool { entry.kind == .null }

    package func decode(_ type: Bool.Type) throws -> Bool {
        guard entry.kind == .true || entry.kind == .false else { throw tape.mismatch(type, at: index) }
        return entry.kind == .true
    }

    package func decode(_ type: String.Type) throws -> String {
        guard entry.kind == .string else { throw tape.mismatch(type, at: index) }
        return try tape.string(at: index)
    }

    package func decode(_ type: Double.Type) throws -> Double { try fraction(type) }
    package func decode(_ type: Float.Type) throws -> Float { try fraction(type) }
    package func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    package func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    package func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    package func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    package func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    package func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    package func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    package func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    package func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    package func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    package func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    package func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
    package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }
}
