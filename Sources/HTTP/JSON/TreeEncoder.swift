/// An encoder whose output equals that of a `JSONEncoder` with `.sortedKeys` and `.withoutEscapingSlashes`: equal
/// values give equal bytes.
///
/// Strings and numbers are immediately appended to one buffer. The tree refers to ranges of that buffer, and the
/// members are sorted at the end.
package final class TreeEncoder {
    /// An encoded value.
    enum Node {
        /// The range of its text in the buffer.
        case text(Range<Int>)
        case object(Object)
        case array(Array)
        /// A value that will be written to an encoder that was handed out.
        case later(TreeEncoder)
    }

    final class Object {
        /// The members in the order in which they were encoded. If a name repeats, the last one counts.
        var members: [(name: String, node: Node)] = []
    }

    final class Array {
        var elements: [Node] = []
    }

    /// The output shared by all encoders of one value.
    final class Output {
        var text: [UInt8] = []
        /// An object that the caller makes available to the values being encoded.
        let context: AnyObject?
        /// The error if two values were encoded at the same place.
        var fault: EncodingError?

        init(_ context: AnyObject? = nil) {
            self.context = context
            text.reserveCapacity(64)
        }
    }

    /// A coding path as a linked list, last step first.
    final class Path {
        let key: any CodingKey
        let parent: Path?

        init(_ key: any CodingKey, in parent: Path?) {
            self.key = key
            self.parent = parent
        }
    }

    var node: Node?
    let output: Output
    let path: Path?

    init(_ output: Output, _ path: Path? = nil) {
        self.output = output
        self.path = path
    }

    /// Encodes a value as JSON.
    ///
    /// - Parameter context: An object made available to values that know this encoder.
    /// - Throws: `EncodingError` if the value has no JSON form, or the error that the value itself threw.
    package static func encode(_ value: some Encodable, lending context: AnyObject? = nil) throws -> Data {
        let output = Output(context)
        let node = try TreeEncoder(output).write(value)
        if let fault = output.fault { throw fault }
        guard let node else {
            let context = EncodingError.Context(codingPath: [], debugDescription: "nothing was encoded")
            throw EncodingError.invalidValue(value, context)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * output.text.count + 16)
        node.append(to: &bytes, output.text)
        return Data(bytes)
    }

    /// The object that the caller of `encode` made available.
    package var context: AnyObject? { output.context }

    /// Sets the node. If there already is one, replaces it and records an error that is thrown at the end.
    private func replace(with node: Node) {
        if self.node != nil, output.fault == nil {
            let context = EncodingError.Context(
                codingPath: codingPath,
                debugDescription: "two values were encoded at the same place"
            )
            output.fault = .invalidValue((), context)
        }
        self.node = node
    }

    // MARK: - Values

    /// Encodes a value and returns its node, or `nil` if the value encodes nothing.
    func write<Value: Encodable>(_ value: Value) throws -> Node? {
        if Value.self == URL.self, let url = value as? URL { return text(url.absoluteString) }
        if Value.self == Data.self, let data = value as? Data { return text(data.base64EncodedString()) }
        if Value.self == Decimal.self, let number = value as? Decimal { return raw(number.description) }
        try value.encode(to: self)
        return node
    }

    /// Encodes a value at a key and returns its node.
    func write<Value: Encodable>(_ value: Value, at key: any CodingKey) throws -> Node {
        try inner(key).write(value) ?? .object(Object())
    }

    /// Returns an encoder for the value at a key.
    func inner(_ key: any CodingKey) -> TreeEncoder { TreeEncoder(output, Path(key, in: path)) }

    func text(_ string: String) -> Node {
        let start = output.text.count
        JSONText.append(string, to: &output.text)
        return .text(start..<output.text.count)
    }

    /// Appends a number or literal unchanged.
    func raw(_ word: String) -> Node {
        let start = output.text.count
        output.text.append(contentsOf: word.utf8)
        return .text(start..<output.text.count)
    }

    /// Appends a floating-point number.
    ///
    /// - Throws: `EncodingError` if the number is infinite or NaN.
    func fraction(_ number: some BinaryFloatingPoint & CustomStringConvertible, at key: (any CodingKey)?) throws -> Node
    {
        guard number.isFinite else {
            let path = codingPath + (key.map { [$0] } ?? [])
            let context = EncodingError.Context(codingPath: path, debugDescription: "JSON cannot represent this number")
            throw EncodingError.invalidValue(number, context)
        }
        let text = number.description
        return raw(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }
}

extension TreeEncoder: Encoder {
    package var codingPath: [any CodingKey] {
        var (keys, path) = ([any CodingKey](), path)
        while let step = path {
            keys.append(step.key)
            path = step.parent
        }
        return keys.reversed()
    }
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    package func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let object: Object
        if case .object(let known) = node {
            object = known
        } else {
            object = Object()
            replace(with: .object(object))
        }
        return KeyedEncodingContainer(KeyedTree<Key>(encoder: self, object: object))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array(let known) = node { return UnkeyedTree(encoder: self, array: known) }
        let array = Array()
        replace(with: .array(array))
        return UnkeyedTree(encoder: self, array: array)
    }

    package func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension TreeEncoder: SingleValueEncodingContainer {
    package func encodeNil() { replace(with: raw("null")) }
    package func encode(_ value: Bool) { replace(with: raw(value ? "true" : "false")) }
    package func encode(_ value: String) { replace(with: text(value)) }
    package func encode(_ value: Double) throws { replace(with: try fraction(value, at: nil)) }
    package func encode(_ value: Float) throws { replace(with: try fraction(value, at: nil)) }
    package func encode(_ value: Int) { replace(with: raw(value.description)) }
    package func encode(_ value: Int8) { replace(with: raw(value.description)) }
    package func encode(_ value: Int16) { replace(with: raw(value.description)) }
    package func encode(_ value: Int32) { replace(with: raw(value.description)) }
    package func encode(_ value: Int64) { replace(with: raw(value.description)) }
    package func encode(_ value: Int128) { replace(with: raw(value.description)) }
    package func encode(_ value: UInt) { replace(with: raw(value.description)) }
    package func encode(_ value: UInt8) { replace(with: raw(value.description)) }
    package func encode(_ value: UInt16) { replace(with: raw(value.description)) }
    package func encode(_ value: UInt32) { replace(with: raw(value.description)) }
    package func encode(_ value: UInt64) { replace(with: raw(value.description)) }
    package func encode(_ value: UInt128) { replace(with: raw(value.description)) }

    package func encode<Value: Encodable>(_ value: Value) throws {
        replace(with: try TreeEncoder(output, path).write(value) ?? .object(Object()))
    }
}

extension TreeEncoder.Node {
    /// Appends the JSON text of the node.
    fileprivate func append(to bytes: inout [UInt8], _ text: [UInt8]) {
        switch self {
        case .text(let range): bytes.append(contentsOf: text[range])
        case .object(let object): object.append(to: &bytes, text)
        case .array(let array):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in array.elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes, text)
            }
            bytes.append(UInt8(ascii: "]"))
        case .later(let encoder):
            (encoder.node ?? .object(TreeEncoder.Object())).append(to: &bytes, text)
        }
    }
}

extension TreeEncoder.Object {
    /// The members, sorted by the bytes of their names.
    private var sorted: [(name: String, node: TreeEncoder.Node)] {
        guard members.count > 1 else { return members }
        let order = members.indices.sorted { first, second in
            let (name, other) = (members[first].name.utf8, members[second].name.utf8)
            if name.lexicographicallyPrecedes(other) { return true }
            return first < second && !other.lexicographicallyPrecedes(name)
        }
        return order.map { members[$0] }
    }

    fileprivate func append(to bytes: inout [UInt8], _ text: [UInt8]) {
        let members = sorted
        var isFirst = true
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index + 1 < members.count, members[index + 1].name == member.name { continue }
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            JSONText.append(member.name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            member.node.append(to: &bytes, text)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}
