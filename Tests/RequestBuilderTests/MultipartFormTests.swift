import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation
import Testing

/// Clauses refer to RFC 7578 unless stated otherwise.
struct MultipartFormTests {
    private let builder = HttpRequestBuilder()

    private func built(_ fields: [FormField], boundary: String? = "b") throws -> TransferRequest {
        var form = Request.FormData(method: .post, fields: fields, encoding: .multipart)
        form.boundary = boundary
        return try builder.build(Request(url: try #require(URL(string: "http://h/")), type: .submitForm(form)))
    }

    private func text(_ fields: [FormField]) async throws -> String {
        String(decoding: try await #require(try built(fields).body).collect(), as: UTF8.self)
    }

    @Test("4.2 and 4.3: each field is a part, in order; names may repeat") func eachFieldIsAPart() async throws {
        let body = try await text([FormField("a", "1"), FormField("b", 2), FormField("a", .null)])
        #expect(
            body == "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
                + "--b\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n2\r\n"
                + "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n--b--\r\n"
        )
        #expect(try built([FormField("a", "1")]).head.headerFields[.contentType] == "multipart/form-data; boundary=b")
        #expect(try await text([]) == "--b--\r\n")
    }

    private static let namesAreEscapedArguments: [(String, String)] = [
        ("a\"b", "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("a\nb", "a%0D%0Ab"), ("a\rb", "a%0D%0Ab"), ("ü%\\", "ü%\\"),
        ("a\r\n\"\u{301}", "a%0D%0A%22\u{301}"),
    ]

    @Test(
        "WHATWG, multipart/form-data encoding algorithm: names and line endings",
        arguments: Self.namesAreEscapedArguments
    )
    func namesAreEscaped(_ name: String, _ expected: String) async throws {
        #expect(try await text([FormField(name, "")]).contains(" name=\"\(expected)\"\r\n"))
    }

    private static let fileNamesAreEscapedAndKeepTheirLineEndingsArguments: [(String, String)] = [
        ("a\"b\n", "a%22b%0A"), ("\r", "%0D"), ("ü 1.png", "ü 1.png"),
    ]

    @Test(arguments: Self.fileNamesAreEscapedAndKeepTheirLineEndingsArguments)
    func fileNamesAreEscapedAndKeepTheirLineEndings(_ name: String, _ expected: String) async throws {
        let file = FormFile(Data("x".utf8), filename: name, contentType: "image/png")
        #expect(
            try await text([FormField("f", file)]).contains(
                "; filename=\"\(expected)\"\r\nContent-Type: image/png\r\n\r\nx"
            )
        )
    }

    @Test func linesOfTextEndInCRLF() async throws {
        #expect(
            try await text([FormField("a", "1\n2\r3\r\n4\n\r")]).contains("\r\n\r\n1\r\n2\r\n3\r\n4\r\n\r\n\r\n--b--")
        )
    }

    @Test func boundariesAreRandom() throws {
        let types = try (0..<3).map { _ in
            try built([FormField("a", "1")], boundary: nil).head.headerFields[.contentType]
        }
        #expect(Set(types).count == 3)
        let boundary = try #require(types[0].flatMap(MediaType.init)?.parameters["boundary"])
        #expect(boundary.count == 39)
    }

    @Test func fileIsReadAgainForEachSend() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let (path, nothing) = (folder.appending(path: "photo.png").path, folder.appending(path: "nothing").path)
        try bytes.write(to: URL(filePath: path))
        try Data().write(to: URL(filePath: nothing))
        let body = try #require(
            try built([
                FormField("t", "x"), FormField("f", FormFile(path: path, contentType: "image/png")),
                FormField("n", FormFile(path: nothing)), FormField("d", FormFile(Data("d".utf8), filename: "d")),
            ]).body
        )
        #expect(body.isReplayable && body.data == nil)
        for _ in 0..<2 {
            let sent = try await body.collect()
            #expect(body.length == Int64(sent.count))
            var reader = try MultipartReader(boundary: "b")
            reader.feed(sent)
            var parts: [(disposition: String?, body: Data)] = []
            while let element = try reader.next() {
                switch element {
                case .head(let fields): parts.append((fields[.contentDisposition], Data()))
                case .body(let piece): parts[parts.count - 1].body += piece
                case .end: break
                }
            }
            try reader.finish()
            #expect(parts.map(\.body) == [Data("x".utf8), bytes, Data(), Data("d".utf8)])
            #expect(parts[1].disposition == "form-data; name=\"f\"; filename=\"photo.png\"")
        }
        // Bytes added since are ignored; missing bytes are an error.
        try (bytes + bytes).write(to: URL(filePath: path))
        #expect(try await Int64(body.collect().count) == body.length)
        try Data(count: 10).write(to: URL(filePath: path))
        let error = await #expect(throws: NetworkError.self) { try await body.collect() }
        #expect(error?.kind == .file && error?.message.contains("shrank") == true)
    }

    @Test func invalidFileIsABuildError() throws {
        let missing = #expect(throws: NetworkError.self) {
            try built([FormField("f", FormFile(path: "/nonexistent/file"))])
        }
        #expect(missing?.kind == .file && missing?.phase == .build)
        for type in ["", "image", "image/png\r\nX: 1", "image/png; a=\"\r\n\""] {
            let error = #expect(throws: NetworkError.self) {
                try built([FormField("f", FormFile(Data(), filename: "f", contentType: type))])
            }
            #expect(error?.kind == .badRequest)
        }
    }

    @Test(arguments: FormRemoteAction.Method.allCases) func onlyMultipartFormsAcceptFiles(
        _ method: FormRemoteAction.Method
    ) throws {
        let fields = [FormField("f", FormFile(Data(), filename: "f"))]
        for encoding in [Request.FormData.Encoding.json, .urlEncoded, .multipart] {
            let form = Request.FormData(method: method, fields: fields, encoding: encoding)
            let takesFiles = encoding == .multipart && (method == .post || method == .put)
            if takesFiles {
                _ = try builder.message("http://h/", .submitForm(form))
            } else {
                #expect(builder.refusal("http://h/", .submitForm(form))?.message.contains("f is a file") == true)
            }
            let old = HttpRequestBuilder(compatibility: .beagle1)
            #expect(old.refusal("http://h/", .submitForm(form)) != nil)
        }
        #expect(builder.refusal("http://h/", .raw("POST", body: .form(fields))) != nil)
    }

    @Test func aRawRequestMayBeMultipart() async throws {
        let body = Request.Body.multipart([FormField("a", "1")])
        let type = Request.RequestType.rawRequest(.init(method: "PATCH", body: body))
        let request = try builder.build(Request(url: try #require(URL(string: "http://h/")), type: type))
        let mediaType = try #require(request.head.headerFields[.contentType].flatMap(MediaType.init))
        #expect(mediaType.essence == "multipart/form-data")
        let boundary = try #require(mediaType.parameters["boundary"])
        #expect(request.body?.data?.starts(with: Data("--\(boundary)\r\n".utf8)) == true)
    }
}
