extension TreeEncoder {
    /// An encoding container for the members of an object.
    struct KeyedTree<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: TreeEncoder
        let object: TreeEncoder.Object

        var codingPath: [any CodingKey] { encoder.codingPath }

        private func put(_ node: TreeEncoder.Node, _ key: any CodingKey) {
            object.members.append((key.stringValue, node))
        }

        private func put(_ number: some FixedWidthInteger, _ key: Key) { put(encoder.raw(number.description), key) }

        func encodeNil(forKey key: Key) { put(encoder.raw("null"), key) }
        func encode(_ value: Bool, forKey key: Key) { put(encoder.raw(value ? "true" : "false"), key) }
        func encode(_ value: String, forKey key: Key) { put(encoder.text(value), key) }
        func encode(_ value: Double, forKey key: Key) throws { put(try encoder.fraction(value, at: key), key) }
        func encode(_ value: Float, forKey key: Key) throws { put(try encoder.fraction(value, at: key), key) }
        func encode(_ value: Int, forKey key: Key) { put(value, key) }
        func encode(_ value: Int8, forKey key: Key) { put(value, key) }
        func encode(_ value: Int16, forKey key: Key) { put(value, key) }
        func encode(_ value: Int32, forKey key: Key) { put(value, key) }
        func encode(_ value: Int64, forKey key: Key) { put(value, key) }
        func encode(_ value: Int128, forKey key: Key) { put(value, key) }
        func encode(_ value: UInt, forKey key: Key) { put(value, key) }
        func encode(_ value: UInt8, forKey key: Key) { put(value, key) }
        func encode(_ value: UInt16, forKey key: Key) { put(value, key) }
        func encode(_ value: UInt32, forKey key: Key) { put(value, key) }
        func encode(_ value: UInt64, forKey key: Key) { put(value, key) }
        func encode(_ value: UInt128, forKey key: Key) { put(value, key) }

        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            put(try encoder.write(value, at: key), key)
        }

        /// Returns an encoder for a member.
        private func inner(_ key: any CodingKey) -> TreeEncoder {
            let inner = encoder.inner(key)
            put(.later(inner), key)
            return inner
        }

        /// Returns an encoder for a nested object or array, which continues an existing one.
        private func nested(_ key: Key) -> TreeEncoder {
            let known = object.members.last { $0.name == key.stringValue }?.node
            if case .later(let inner) = known { return inner }
            let inner = inner(key)
            switch known {
            case .object, .array: inner.node = known
            default: break
            }
            return inner
        }

        func nestedContainer<Nested>(keyedBy: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
            nested(key).container(keyedBy: Nested.self)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
        func superEncoder() -> any Encoder { inner(TapeKey("super")) }
        func superEncoder(forKey key: Key) -> any Encoder { inner(key) }
    }

    /// An encoding container for the elements of an array.
    struct UnkeyedTree: UnkeyedEncodingContainer {
        let encoder: TreeEncoder
        let array: TreeEncoder.Array

        var codingPath: [any CodingKey] { encoder.codingPath }
        var count: Int { array.elements.count }
        private var key: TapeKey { TapeKey(count) }

        private func put(_ node: TreeEncoder.Node) { array.elements.append(node) }
        private func put(_ number: some FixedWidthInteger) { put(encoder.raw(number.description)) }

        func encodeNil() { put(encoder.raw("null")) }
        func encode(_ value: Bool) { put(encoder.raw(value ? "true" : "false")) }
        func encode(_ value: String) { put(encoder.text(value)) }
        func encode(_ value: Double) throws { put(try encoder.fraction(value, at: key)) }
        func encode(_ value: Float) throws { put(try encoder.fraction(value, at: key)) }
        func encode(_ value: Int) { put(value) }
        func encode(_ value: Int8) { put(value) }
        func encode(_ value: Int16) { put(value) }
        func encode(_ value: Int32) { put(value) }
        func encode(_ value: Int64) { put(value) }
        func encode(_ value: Int128) { put(value) }
        func encode(_ value: UInt) { put(value) }
        func encode(_ value: UInt8) { put(value) }
        func encode(_ value: UInt16) { put(value) }
        func encode(_ value: UInt32) { put(value) }
        func encode(_ value: UInt64) { put(value) }
        func encode(_ value: UInt128) { put(value) }
        func encode<Value: Encodable>(_ value: Value) throws { put(try encoder.write(value, at: key)) }

        private func inner() -> TreeEncoder {
            let inner = encoder.inner(key)
            put(.later(inner))
            return inner
        }

        func nestedContainer<Nested>(keyedBy: Nested.Type) -> KeyedEncodingContainer<Nested> {
            inner().container(keyedBy: Nested.self)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { inner().unkeyedContainer() }
        func superEncoder() -> any Encoder { inner() }
    }
}
