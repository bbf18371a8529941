import BeagleNet
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A decoder that returns sample values and records the requested fields.
struct SelectionRecorder: Decoder {
    let recording: SelectionRecording
    let userInfo: [CodingUserInfoKey: Any]
    let failure: Failure
    var codingPath: [any CodingKey] = []
    /// The types that are being decoded, outermost first.
    private var types: [any Any.Type] = []

    init(recording: SelectionRecording, userInfo: [CodingUserInfoKey: any Sendable], failure: Failure) {
        self.recording = recording
        self.userInfo = userInfo
        self.failure = failure
    }

    private init(_ other: Self, at key: any CodingKey) {
        recording = other.recording.field(key.stringValue)
        userInfo = other.userInfo
        failure = other.failure
        codingPath = other.codingPath + [key]
        types = other.types
    }

    /// Returns the decoder of a field.
    func field(_ key: any CodingKey) -> Self { Self(self, at: key) }

    /// Returns a sample value.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let leaf = type as? any SampleLeaf.Type, let value = leaf.sample as? Value { return value }
        if let sample = type as? any GraphQLSelection.Sample.Type, let value = sample.graphQLSample as? Value {
            recording.setSelection(sample.graphQLSelection)
            return value
        }
        if let cases = type as? any CaseIterable.Type, let value = cases.firstCase as? Value { return value }
        guard !types.contains(where: { $0 == type }) else { throw recursion(type) }
        var inner = self
        inner.types.append(type)
        return try Value(from: inner)
    }

    private func recursion(_ type: any Any.Type) -> SelectionError {
        let fault = SelectionError(
            reason: "\(SelectionError.place(codingPath)) is a \(type) inside a \(type), and so on without end",
            advice: "use a type with fewer fields for the inner value, or write the selection into the document"
        )
        failure.error = failure.error ?? fault
        return fault
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        recording.isObject = true
        return KeyedDecodingContainer(KeyedRecorder<Key>(recorder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { UnkeyedRecorder(recorder: self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleValueRecorder(recorder: self) }
}

extension SelectionRecorder {
    /// An error that must be kept even if the type handles a failed decoding with `try?`.
    final class Failure {
        var error: SelectionError?
    }

    private struct KeyedRecorder<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let recorder: SelectionRecorder
        var codingPath: [any CodingKey] { recorder.codingPath }
        /// Always empty, because only the server knows the keys.
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool { true }

        func decodeNil(forKey key: Key) -> Bool { false }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try recorder.field(key).value(type)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) -> KeyedDecodingContainer<Nested> {
            recorder.field(key).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
            recorder.field(key).unkeyedContainer()
        }

        func superDecoder() -> any Decoder { recorder.field(SuperKey.super) }

        func superDecoder(forKey key: Key) -> any Decoder { recorder.field(key) }

        private enum SuperKey: String, CodingKey {
            case `super`
        }
    }

    /// A list of one element, or of as many as a type decodes without checking for the end.
    private struct UnkeyedRecorder: UnkeyedDecodingContainer {
        let recorder: SelectionRecorder
        var codingPath: [any CodingKey] { recorder.codingPath }
        var count: Int? { 1 }
        var isAtEnd: Bool { currentIndex > 0 }
        var currentIndex = 0

        mutating func decodeNil() -> Bool { false }

        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            currentIndex += 1
            return try recorder.value(type)
        }

        mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
            currentIndex += 1
            return recorder.container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
            currentIndex += 1
            return recorder.unkeyedContainer()
        }

        mutating func superDecoder() -> any Decoder {
            currentIndex += 1
            return recorder
        }
    }

    private struct SingleValueRecorder: SingleValueDecodingContainer {
        let recorder: SelectionRecorder
        var codingPath: [any CodingKey] { recorder.codingPath }

        func decodeNil() -> Bool { false }

        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try recorder.value(type)
        }
    }
}

extension CaseIterable {
    fileprivate static var firstCase: Self? { allCases.first }
}

// MARK: - Leaves

/// A type without fields that has a sample value.
private protocol SampleLeaf {
    static var sample: Self { get }
}

extension SampleLeaf where Self: ExpressibleByIntegerLiteral {
    fileprivate static var sample: Self { 0 }
}

extension Int: SampleLeaf {}
extension Int8: SampleLeaf {}
extension Int16: SampleLeaf {}
extension Int32: SampleLeaf {}
extension Int64: SampleLeaf {}
extension UInt: SampleLeaf {}
extension UInt8: SampleLeaf {}
extension UInt16: SampleLeaf {}
extension UInt32: SampleLeaf {}
extension UInt64: SampleLeaf {}
extension Float: SampleLeaf {}
extension Double: SampleLeaf {}
extension Decimal: SampleLeaf {}
extension String: SampleLeaf { fileprivate static var sample: String { "" } }
extension Bool: SampleLeaf { fileprivate static var sample: Bool { false } }
extension Date: SampleLeaf { fileprivate static var sample: Date { Date(timeIntervalSince1970: 0) } }
extension UUID: SampleLeaf {
    fileprivate static var sample: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
extension Data: SampleLeaf { fileprivate static var sample: Data { Data() } }
extension URL: SampleLeaf { fileprivate static var sample: URL { URL(filePath: "/") } }
extension JSONValue: SampleLeaf { fileprivate static var sample: JSONValue { .null } }
extension Dictionary: SampleLeaf { fileprivate static var sample: [Key: Value] { [:] } }
