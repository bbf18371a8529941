public import BeagleNet
import BeagleNetHTTP

/// A file as the value of a variable, at any depth.
///
/// The operation is then sent as a multipart form (GraphQL multipart request specification).
///
/// ```swift
/// struct Photos: Encodable { var album: String; var files: [GraphQLUpload] }
/// ```
///
/// A file that occurs twice is sent once. Files are read from disk while they are sent.
public struct GraphQLUpload: Encodable, Sendable, Hashable {
    /// The file to send.
    public var file: FormFile

    /// Creates an upload of a file.
    public init(_ file: FormFile) {
        self.file = file
    }

    /// Encodes null, which the specification puts in the place of a file.
    ///
    /// - Throws: `EncodingError` if this is not a variable of an operation, because the file would be lost.
    public func encode(to encoder: any Encoder) throws {
        guard let placeholders = UploadPlaceholders.of(encoder) else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "a file can be sent only as a variable of an operation"
                )
            )
        }
        var container = encoder.singleValueContainer()
        try container.encode(placeholders.placeholder(for: file))
    }
}

/// Placeholder texts for files while variables are encoded. They are then located in the encoder's output, because an
/// encoder may rename the keys on their paths.
final class UploadPlaceholders: Sendable {
    @TaskLocal private static var current: UploadPlaceholders?

    /// A text that no variable contains by chance.
    private static let nonce = "upload-\(UInt64.random(in: .min ... .max))-\(UInt64.random(in: .min ... .max))-"
    private let files = InlineLock<[FormFile]>([])

    /// Encodes variables and makes these placeholders available to their files.
    func writing(_ input: some Encodable, _ encoder: (any BodyEncoder)?) throws -> Data {
        if let encoder { return try Self.$current.withValue(self) { try encoder.encode(input) } }
        do {
            return try TreeEncoder.encode(input, lending: self)
        } catch {
            // An encoder may wrap ours before it reaches a file. The task-local value is only the fallback, because it
            // costs a large part of the whole encoding.
            return try Self.$current.withValue(self) { try TreeEncoder.encode(input, lending: self) }
        }
    }

    /// Returns the placeholders of the variables that are being encoded.
    static func of(_ encoder: any Encoder) -> UploadPlaceholders? {
        (encoder as? TreeEncoder)?.context as? UploadPlaceholders ?? current
    }

    /// Returns the placeholder of a file.
    func placeholder(for file: FormFile) -> String {
        files.withLock { files in
            if let index = files.firstIndex(of: file) { return Self.nonce + "\(index)" }
            files.append(file)
            return Self.nonce + "\(files.count - 1)"
        }
    }

    /// Returns the variables with null in place of the files and otherwise unchanged, and the files with their paths.
    func resolve(_ variables: Data) throws(NetworkError) -> (variables: Data, files: [GraphQLRequest.File]) {
        let known = files.withLock { $0 }
        guard !known.isEmpty else { return (variables, []) }
        var found = known.map { GraphQLRequest.File($0, at: []) }
        var places: [Range<Int>] = []
        take(from: try ParsedJSON.reading(variables).root, at: "variables", into: &found, &places)
        return (variables.replacing(places.map { ($0, "null") }), found)
    }

    private func take(
        from value: JSONNode,
        at path: String,
        into found: inout [GraphQLRequest.File],
        _ places: inout [Range<Int>]
    ) {
        switch value.kind {
        case .string:
            guard let text = value.string, text.hasPrefix(Self.nonce),
                let index = Int(text.dropFirst(Self.nonce.count)), index < found.count
            else {
                return
            }
            found[index].paths.append(path)
            places.append(value.range)
        case .array:
            for (index, element) in value.elements.enumerated() {
                take(from: element, at: "\(path).\(index)", into: &found, &places)
            }
        case .object:
            for (name, member) in value.members { take(from: member, at: "\(path).\(name)", into: &found, &places) }
        default: break
        }
    }
}

extension GraphQLRequest {
    /// A file that is sent with an operation.
    public struct File: Sendable, Hashable {
        /// The file to send.
        public var file: FormFile
        /// The paths of the file, such as `variables.photos.0`.
        ///
        /// The variables have null there.
        public var paths: [String]

        /// Creates a file for the given paths.
        public init(_ file: FormFile, at paths: [String]) {
            self.file = file
            self.paths = paths
        }
    }

    /// Returns the parts of the form for an operation with files: `operations`, `map`, then the files.
    func form(of operation: Data) throws(NetworkError) -> [FormField] {
        var map: [String: JSONValue] = [:]
        for (index, file) in files.enumerated() { map["\(index)"] = .array(file.paths.map(JSONValue.string)) }
        return [
            FormField("operations", String(decoding: operation, as: UTF8.self)),
            FormField("map", try JSONValue.object(map).text()),
        ] + files.enumerated().map { index, file in FormField("\(index)", file.file) }
    }
}
