import BeagleNet
import BeagleNetGraphQL
import Foundation
import Testing

/// Files in variables.
struct GraphQLFilesTests {
    private let file = FormFile(Data("a".utf8), filename: "a.txt")

    private func attached(_ path: String, to variables: String) throws -> (text: String, files: [GraphQLRequest.File]) {
        var request = GraphQLRequest(variables: Data(variables.utf8))
        try request.attach(file, at: path)
        return (String(decoding: request.variables, as: UTF8.self), request.files)
    }

    private static let nullReplacesTheFileInTheVariablesArguments: [(String, String, String)] = [
        ("", "file", #"{"file":null}"#),
        ("{ }", "file", #"{"file":null }"#),
        (#"{"file": null}"#, "file", #"{"file": null}"#),
        (#"{"file": null}"#, "variables.file", #"{"file": null}"#),
        (#"{"file": null}"#, "file.0", #"{"file": [null]}"#),
        (#"{"a": 1 }"#, "b.c.0.d", #"{"a": 1,"b":{"c":[{"d":null}]} }"#),
        (#"{"l": [ ]}"#, "l.0", #"{"l": [null ]}"#),
        (#"{"l": [1, {}]}"#, "l.1.x", #"{"l": [1, {"x":null}]}"#),
        (#"{"l": [1, {}]}"#, "l.2", #"{"l": [1, {},null]}"#),
        (#"{"a":{"0":null},"z":1}"#, "a.0", #"{"a":{"0":null},"z":1}"#),
        (#"{"a":{}}"#, #"a.b"c"#, #"{"a":{"b\"c":null}}"#),
        (
            #"{"n":18446744073709551615,"d":0.10000000000000000001}"#, "f",
            #"{"n":18446744073709551615,"d":0.10000000000000000001,"f":null}"#
        ),
    ]

    @Test(arguments: Self.nullReplacesTheFileInTheVariablesArguments)
    func nullReplacesTheFileInTheVariables(variables: String, path: String, expected: String) throws {
        let (text, files) = try attached(path, to: variables)
        #expect(text == expected)
        #expect(files == [.init(file, at: [path.hasPrefix("variables.") ? path : "variables." + path])])
    }

    @Test(arguments: ["a", "a.b", "l", "l.0", "l.2", "l.-1", "l.x", "o", "n.1", "n.0.1", "", "n.", "variables."])
    func attachingAtAnUnusablePathThrowsAndChangesNothing(path: String) throws {
        var request = GraphQLRequest(variables: Data(#"{"a":"x","l":[1],"o":{},"n":null}"#.utf8))
        let before = request
        let error = #expect(throws: NetworkError.self) { try request.attach(file, at: path) }
        #expect(error?.kind == .badRequest)
        #expect(path.isEmpty || error?.message.contains(path) == true)
        #expect(request == before)
    }

    @Test func nonObjectVariablesThrow() {
        for text in ["[]", "1", "{"] {
            #expect(throws: NetworkError.self) { try attached("file", to: text) }
        }
    }

    @Test func oneFileMayHaveSeveralPathsButOnePathHasOneFile() throws {
        let other = FormFile(Data("b".utf8), filename: "b.txt")
        var request = GraphQLRequest()
        try request.attach(file, at: "files.0")
        try request.attach(other, at: "files.1")
        try request.attach(file, at: "files.2")
        #expect(throws: NetworkError.self) { try request.attach(other, at: "files.0") }
        #expect(throws: NetworkError.self) { try request.attach(other, at: "files.0.0") }
        #expect(request.variables == Data(#"{"files":[null,null,null]}"#.utf8))
        #expect(
            request.files == [
                .init(file, at: ["variables.files.0", "variables.files.2"]),
                .init(other, at: ["variables.files.1"]),
            ]
        )
    }

    @Test func relayUploadsAreOrderedByPosition() throws {
        let execution = NetworkOperation.RelayExecution(
            request: RequestParameters(name: "A", operationKind: .mutation, text: "mutation A { a }"),
            cacheConfig: CacheConfig()
        )
        let places = (0..<12).map { ("files.\($0)", file) }
        let request = try GraphQLRequest(execution, [:], uploadables: Dictionary(places) { $1 })
        let nulls = Array(repeating: "null", count: 12).joined(separator: ",")
        #expect(String(decoding: request.variables, as: UTF8.self) == "{\"files\":[\(nulls)]}")
        #expect(request.files.map(\.paths) == [(0..<12).map { "variables.files.\($0)" }])
    }

    @Test func variablesBesideAFileAreUnchanged() throws {
        struct Input: Encodable, Sendable {
            let big = UInt64.max
            let files: [GraphQLUpload]
            let name = "é"
        }
        let operation = GraphQLOperation<Input, Bool>(
            input: Input(files: [GraphQLUpload(file), GraphQLUpload(file)]),
            operationString: "mutation($files: [Upload!]!) { upload(files: $files) }"
        )
        let request = try operation.request()
        #expect(
            String(decoding: request.variables, as: UTF8.self)
                == #"{"big":18446744073709551615,"files":[null,null],"name":"é"}"#
        )
        #expect(request.files == [.init(file, at: ["variables.files.0", "variables.files.1"])])
    }

    /// A type may encode its members with another encoder.
    @Test func fileIsFoundThroughAnotherEncoder() throws {
        struct Input: Encodable, Sendable {
            let file: GraphQLUpload

            func encode(to encoder: any Encoder) throws {
                let text = String(decoding: try JSONEncoder().encode(["file": file]), as: UTF8.self)
                try JSONValue(parsing: text).encode(to: encoder)
            }
        }
        let operation = GraphQLOperation<Input, Bool>(
            input: Input(file: GraphQLUpload(file)),
            operationString: "mutation($file: Upload!) { upload(file: $file) }"
        )
        let request = try operation.request()
        #expect(String(decoding: request.variables, as: UTF8.self) == #"{"file":null}"#)
        #expect(request.files == [.init(file, at: ["variables.file"])])
    }
}
