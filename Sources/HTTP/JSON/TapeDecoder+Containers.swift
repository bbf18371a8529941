extension TapeDecoder {
    /// A decoding container for the members of an object.
    struct KeyedTape<Key: CodingKey>: KeyedDecodingContainerProtocol {
        private let object: TapeDecoder
        /// The values by name if the object has many members, because a linear search for each member would take long.
        private let many: [String: Int]?

        init(_ decoder: TapeDecoder) throws {
            guard decoder.entry.kind == .objectStart else {
                throw decoder.tape.mismatch([String: Any].self, at: decoder.index)
            }
            object = decoder
            many = decoder.entry.count > 16 ? try Self.index(decoder) : nil
            if many == nil { try decoder.tape.checkNames(of: decoder.index) }
        }

        private static func index(_ object: TapeDecoder) throws -> [String: Int] {
            var index = [String: Int](minimumCapacity: Int(object.entry.count))
            for name in object.tape.children(of: object.index) {
                let (name, value) = (try object.tape.string(at: name), name + 1)
                if index[name] == nil { index[name] = value }
            }
            return index
        }

        var codingPath: [any CodingKey] { object.codingPath }

        var allKeys: [Key] {
            var known: Set<String> = []
            return object.tape.children(of: object.index).compactMap { place in
                guard let name = try? object.tape.string(at: place), known.insert(name).inserted else { return nil }
                return Key(stringValue: name)
            }
        }

        func contains(_ key: Key) -> Bool { find(key.stringValue) != nil }

        private func find(_ name: String) -> TapeDecoder? {
            let place = if let many { many[name] } else { object.tape.member(name, of: object.index) }
            return place.map { TapeDecoder(tape: object.tape, index: $0) }
        }

        private func value(_ key: Key) throws -> TapeDecoder {
            guard let value = find(key.stringValue) else {
                let context = DecodingError.Context(codingPath: codingPath, debugDescription: "the member is missing")
                throw DecodingError.keyNotFound(key, context)
            }
            return value
        }

        func decodeNil(forKey key: Key) throws -> Bool { try value(key).decodeNil() }
        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key).decode(type) }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key).decode(type) }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key).decode(type) }
        func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key).decode(type) }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key).decode(type) }
        func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key).decode(type) }
        func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key).decode(type) }
        func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key).decode(type) }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key).decode(type) }
        func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try value(key).decode(type) }
        func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key).decode(type) }
        func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key).decode(type) }
        func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(key).decode(type) }
        func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(key).decode(type) }
        func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(key).decode(type) }
        func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try value(key).decode(type) }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try value(key).value(type)
        }

        func nestedContainer<Nested>(keyedBy: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
            try value(key).container(keyedBy: Nested.self)
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try value(key).unkeyedContainer()
        }

        func superDecoder() throws -> any Decoder { superDecoder(TapeKey("super")) }
        func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(key) }

        /// Returns a decoder for the member, or for null if there is no such member.
        private func superDecoder(_ key: any CodingKey) -> any Decoder {
            find(key.stringValue) ?? TapeDecoder(tape: JSONTape(nullAt: codingPath + [key]), index: 0)
        }
    }

    /// A decoding container for the elements of an array.
    struct UnkeyedTape: UnkeyedDecodingContainer {
        private let array: TapeDecoder
        /// The entry of the next element.
        private var place: Int
        private(set) var currentIndex = 0

        init(_ decoder: TapeDecoder) throws {
            guard decoder.entry.kind == .arrayStart else { throw decoder.tape.mismatch([Any].self, at: decoder.index) }
            array = decoder
            place = decoder.index + 1
        }

        var codingPath: [any CodingKey] { array.codingPath }
        var count: Int? { Int(array.entry.count) }
        var isAtEnd: Bool { currentIndex == Int(array.entry.count) }

        /// Decodes the next element. If that fails, the element remains the next one.
        private mutating func next<Value>(
            _ type: Any.Type,
            _ make: (TapeDecoder) throws -> Value
        ) throws -> Value {
            guard !isAtEnd else {
                let context = DecodingError.Context(
                    codingPath: codingPath + [TapeKey(currentIndex)],
                    debugDescription: "the array has no more elements"
                )
                throw DecodingError.valueNotFound(type, context)
            }
            let element = TapeDecoder(tape: array.tape, index: place)
            let value = try make(element)
            place = Int(element.entry.next)
            currentIndex += 1
            return value
        }

        mutating func decodeNil() throws -> Bool {
            guard isAtEnd || TapeDecoder(tape: array.tape, index: place).decodeNil() else { return false }
            return try next(Never.self) { $0.decodeNil() }
        }

        mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: String.Type) throws -> String { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: Double.Type) throws -> Double { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: Float.Type) throws -> Float { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: Int.Type) throws -> Int { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: Int8.Type) throws -> Int8 { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: Int16.Type) throws -> Int16 { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: Int32.Type) throws -> Int32 { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: Int64.Type) throws -> Int64 { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: Int128.Type) throws -> Int128 { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: UInt.Type) throws -> UInt { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next(type) { try $0.decode(type) } }
        mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next(type) { try $0.decode(type) } }
        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try next(type) { try $0.value(type) }
        }

        mutating func nestedContainer<Nested>(keyedBy: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
            try next(KeyedDecodingContainer<Nested>.self) { try $0.container(keyedBy: Nested.self) }
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try next((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
        }

        mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }
    }
}
