public import BeagleNet
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A type whose selection cannot be seen by decoding it, because no made-up value is one: an enumeration that doesn't
/// list its cases, or a struct that checks what it reads.
public protocol GraphQLSample: Decodable {
    /// Any value, which stands for what is decoded while a selection is derived.
    static var graphQLSample: Self { get }
    /// What is to be selected; by default nothing: a leaf.
    static var graphQLSelection: GraphQLSelection { get }
}

extension GraphQLSample {
    /// Nothing: a leaf.
    public static var graphQLSelection: GraphQLSelection { GraphQLSelection() }
}

extension GraphQLSelection {
    /// What a type reads, as a selection: `{ id title author { name } }`.
    ///
    /// The type decodes itself from made-up values, and what it asks for is written down: keys as its `CodingKeys` name
    /// them, objects and lists of objects with their fields. What is decoded by a `keyDecodingStrategy` must name its keys
    /// as the server does. Leaves are text, numbers, truth values, `Date`, `URL`, `UUID`, `Decimal`, `Data`, `JSONValue`,
    /// dictionaries, and enumerations that list their cases; a type that accepts none of the made-up values (empty text, 0,
    /// false) conforms to `GraphQLSample`. Of an enumeration that decodes each case in its own way only one is seen.
    ///
    /// - Parameters:
    ///   - type: the type; of an array or an optional, its elements' fields are selected.
    ///   - arguments: what fields are given, by the way to them: `["comments": ["first": 5], "author.image": ["size": 64]]`.
    ///   - userInfo: what the type asks its decoder for.
    /// - Returns: the selection; one without parts for a leaf.
    /// - Throws: `NetworkError` of kind `.badRequest`, with the path, where the type refuses made-up values, contains
    ///   itself, or has a key that is no name, and where arguments are for a field that it does not read.
    public static func of(
        _ type: (some Decodable).Type,
        arguments: [String: GraphQLMembers] = [:],
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws(NetworkError) -> GraphQLSelection {
        let recording = SelectionRecording()
        let recorder = SelectionRecorder(recording: recording, userInfo: userInfo, failure: RecordingFailure())
        do {
            _ = try recorder.value(type)
            if let error = recorder.failure.error { throw error }
            var selection = try recording.selection(at: [])
            for (path, members) in arguments.sorted(by: { $0.key < $1.key }) {
                guard !selection.give(members, to: path.split(separator: ".")[...]) else { continue }
                throw SelectionFault(
                    reason: "arguments are given for \(path), which the type does not read",
                    advice: "write the path to the field, such as author.image"
                )
            }
            return selection
        } catch {
            throw NetworkError(deriving: error, of: type)
        }
    }
}

extension GraphQLSelection {
    /// Gives arguments to the field at the end of this way; false where there is none.
    fileprivate mutating func give(_ arguments: GraphQLMembers, to path: ArraySlice<Substring>) -> Bool {
        for index in parts.indices {
            guard case .field(var field) = parts[index], let name = path.first, field.name == name else { continue }
            if path.count == 1 {
                field.arguments = arguments
            } else if !field.selection.give(arguments, to: path.dropFirst()) {
                return false
            }
            parts[index] = .field(field)
            return true
        }
        return false
    }
}

extension NetworkError {
    fileprivate init(deriving error: any Error, of type: any Any.Type) {
        let (reason, advice) =
            switch error {
            case let error as SelectionFault: (error.reason, error.advice)
            case let error as DecodingError: (error.place + " rejects a sample value", SelectionFault.sample)
            default: ("it rejects sample values", SelectionFault.sample)
            }
        self.init(
            .badRequest,
            during: .build,
            "cannot derive a selection for \(type): \(reason)",
            advice: advice,
            underlying: error
        )
    }
}

extension DecodingError {
    fileprivate var place: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            SelectionFault.place(context.codingPath)
        @unknown default: "a part of it"
        }
    }
}

/// Why no selection can be derived.
struct SelectionFault: Error {
    let reason: String
    let advice: String

    static let sample = "make the type conform to GraphQLSample, or write the selection into the document"

    static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "the type itself" : path.map(\.stringValue).joined(separator: ".")
    }
}

/// The fields that a type asked for, in order.
final class SelectionRecording {
    private var names: [String] = []
    private var fields: [String: SelectionRecording] = [:]
    private var given = GraphQLSelection()
    /// Whether the type asked for fields at all.
    var isObject = false

    func field(_ name: String) -> SelectionRecording {
        if let known = fields[name] { return known }
        let field = SelectionRecording()
        names.append(name)
        fields[name] = field
        return field
    }

    func give(_ selection: GraphQLSelection) {
        given = selection
    }

    func selection(at path: [String]) throws(SelectionFault) -> GraphQLSelection {
        var selection = given
        for name in names {
            let path = path + [name]
            guard name.isGraphQLName else {
                throw SelectionFault(
                    reason: "\(path.joined(separator: ".")) is not a valid field name",
                    advice: "use a name of letters, digits and _ in CodingKeys, and an alias in the document"
                )
            }
            let field = try fields[name]?.selection(at: path) ?? GraphQLSelection()
            selection.parts.append(.field(GraphQLField(name) { field }))
        }
        guard selection.parts.isEmpty, isObject else { return selection }
        throw SelectionFault(
            reason: "\(path.isEmpty ? "it" : path.joined(separator: ".")) is an object, but its type reads no fields",
            advice: SelectionFault.sample
        )
    }
}

/// A fault that must not get lost where a type tries to decode something and goes on without it.
final class RecordingFailure {
    var error: SelectionFault?
}
