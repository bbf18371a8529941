public import BeagleNet
import BeagleNetHTTP

/// A file as a variable, anywhere among the variables: the operation is then sent as a form of several parts (GraphQL
/// multipart request specification).
///
/// ```swift
/// struct Photos: Encodable { var album: String; var files: [GraphQLUpload] }
/// ```
///
/// The same file at two places is sent once. Files are read as they are sent.
public struct GraphQLUpload: Encodable, Sendable, Hashable {
    /// What is sent.
    public var file: FormFile

    /// This file.
    public init(_ file: FormFile) {
        self.file = file
    }

    /// Writes null, which the specification puts in a file's place.
    ///
    /// - Throws: `EncodingError` where this is not a variable of an operation: the file would be lost.
    public func encode(to encoder: any Encoder) throws {
        guard let marks = UploadMarks.of(encoder) else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "a file can be sent only as a variable of an operation"
                )
            )
        }
        var container = encoder.singleValueContainer()
        try container.encode(marks.mark(for: file))
    }
}

/// Text that stands for files while variables are written: an encoder may rename what leads to them, so that they are
/// looked for in what it wrote.
final class UploadMarks: Sendable {
    @TaskLocal private static var current: UploadMarks?

    /// A text that no variable has by chance.
    private static let nonce = "upload-\(UInt64.random(in: .min ... .max))-\(UInt64.random(in: .min ... .max))-"
    private let files = InlineLock<[FormFile]>([])

    /// Writes variables, whose files find these marks.
    func writing(_ input: some Encodable, _ encoder: (any BodyEncoder)?) throws -> Data {
        if let encoder { return try Self.$current.withValue(self) { try encoder.encode(input) } }
        do {
            return try TreeEncoder.encode(input, lending: self)
        } catch {
            // A file may be given an encoder that stands before ours. A task-local value costs a good part of all that is done here.
            return try Self.$current.withValue(self) { try TreeEncoder.encode(input, lending: self) }
        }
    }

    /// Those of the variables that are being written.
    static func of(_ encoder: any Encoder) -> UploadMarks? {
        (encoder as? TreeEncoder)?.context as? UploadMarks ?? current
    }

    /// The text that stands for this file.
    func mark(for file: FormFile) -> String {
        files.withLock { files in
            if let index = files.firstIndex(of: file) { return Self.nonce + "\(index)" }
            files.append(file)
            return Self.nonce + "\(files.count - 1)"
        }
    }

    /// Variables with null in the places of files, as they were written but for that, and where those are.
    func resolve(_ variables: Data) throws(NetworkError) -> (variables: Data, files: [GraphQLRequest.File]) {
        let known = files.withLock { $0 }
        guard !known.isEmpty else { return (variables, []) }
        var found = known.map { GraphQLRequest.File($0, at: []) }
        var places: [Range<Int>] = []
        take(from: try JSONDocument.reading(variables).root, at: "variables", into: &found, &places)
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
    /// A file that goes with an operation.
    public struct File: Sendable, Hashable {
        /// What is sent.
        public var file: FormFile
        /// Where it belongs, as `variables.photos.0`; null stands there.
        public var paths: [String]

        /// A file for these places.
        public init(_ file: FormFile, at paths: [String]) {
            self.file = file
            self.paths = paths
        }
    }

    /// The parts of a form that carry an operation and its files: `operations`, `map`, then the files.
    func form(of operation: Data) throws(NetworkError) -> [FormField] {
        var map: [String: JSONValue] = [:]
        for (index, file) in files.enumerated() { map["\(index)"] = .array(file.paths.map(JSONValue.string)) }
        return [
            FormField("operations", String(decoding: operation, as: UTF8.self)),
            FormField("map", try JSONValue.object(map).text()),
        ] + files.enumerated().map { index, file in FormField("\(index)", file.file) }
    }
}
