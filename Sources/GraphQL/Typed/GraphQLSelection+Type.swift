public import BeagleNet
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension GraphQLSelection {
    /// A type whose selection can't be derived by decoding it, because it rejects all sample values: for example, an
    /// enum without `CaseIterable`, or a struct that validates its input.
    public protocol Sample: Decodable {
        /// Any value, which is used in place of a decoded one while a selection is derived.
        static var graphQLSample: Self { get }
        /// The selection of the type; by default empty, for a leaf.
        static var graphQLSelection: GraphQLSelection { get }
    }
}

extension GraphQLSelection.Sample {
    /// An empty selection, for a leaf.
    public static var graphQLSelection: GraphQLSelection { GraphQLSelection() }
}

extension GraphQLSelection {
    /// Derives a selection from the fields that a type decodes: `{ id title author { name } }`.
    ///
    /// The type is decoded from sample values while its requests are recorded: keys as named by its `CodingKeys`,
    /// objects and lists of objects with their fields. A type that relies on a `keyDecodingStrategy` must name its keys
    /// as the server does. Leaves are strings, numbers, Booleans, `Date`, `URL`, `UUID`, `Decimal`, `Data`,
    /// `JSONValue`, dictionaries, and enums that are `CaseIterable`. A type that accepts none of the sample values (an
    /// empty string, 0, false) must conform to `GraphQLSelection.Sample`. If an enum decodes each case differently,
    /// only one case is recorded.
    ///
    /// - Parameters:
    ///   - type: The type. For an array or optional, the fields of its element are selected.
    ///   - arguments: The arguments of fields by path: `["comments": ["first": 5], "author.image": ["size": 64]]`.
    ///   - userInfo: The `userInfo` of the decoder.
    /// - Returns: The selection; empty for a leaf.
    /// - Throws: `NetworkError` of kind `.badRequest` with the path if the type rejects the sample values, contains
    ///   itself, or has a key that is not a valid name, or if arguments are given for a field that it doesn't decode.
    public static func of(
        _ type: (some Decodable).Type,
        arguments: [String: GraphQLValue.Members] = [:],
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws(NetworkError) -> GraphQLSelection {
        let recording = SelectionRecording()
        let recorder = SelectionRecorder(recording: recording, userInfo: userInfo, failure: SelectionRecorder.Failure())
        do {
            _ = try recorder.value(type)
            if let error = recorder.failure.error { throw error }
            var selection = try recording.selection(at: [])
            for (path, members) in arguments.sorted(by: { $0.key < $1.key }) {
                guard !selection.setArguments(members, at: path.split(separator: ".")[...]) else { continue }
                throw SelectionError(
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
    /// Sets the arguments of the field at a path. Returns `false` if there is no such field.
    fileprivate mutating func setArguments(_ arguments: GraphQLValue.Members, at path: ArraySlice<Substring>) -> Bool {
        for index in parts.indices {
            guard case .field(var field) = parts[index], let name = path.first, field.name == name else { continue }
            if path.count == 1 {
                field.arguments = arguments
            } else if !field.selection.setArguments(arguments, at: path.dropFirst()) {
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
            case let error as SelectionError: (error.reason, error.advice)
            case let error as DecodingError: (error.place + " rejects a sample value", SelectionError.sample)
            default: ("it rejects sample values", SelectionError.sample)
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
            SelectionError.place(context.codingPath)
        @unknown default: "a part of it"
        }
    }
}
