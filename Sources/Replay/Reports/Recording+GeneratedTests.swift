public import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Recording {
    /// A generator of a Swift Testing file, with a client that returns recorded responses and a test for each request.
    ///
    /// It is a starting point for testing an app's own code.
    ///
    /// Requests match if method, URL and body are equal, ignoring secrets. A repeated request receives the next
    /// response. Entries with bodies of more than 64 KiB are omitted.
    public struct GeneratedTests: Sendable {
        private static let bodyLimit = 64 << 10

        private let title: String
        private let exchanges: [Exchange]
        /// The number of entries that are not in the file.
        public private(set) var omittedCount = 0

        /// Creates tests for a recording.
        ///
        /// - Parameters:
        ///   - recording: the recording.
        ///   - title: the name of the recording.
        ///   - filter: the filter for tested entries; all by default.
        ///   - redactor: the redactor that removes secrets; `nil` to keep them.
        public init(_ recording: Recording, title: String, filter: Filter? = nil, redactor: Redactor? = Redactor()) {
            self.title = title
            var (exchanges, places, names): ([Exchange], [String: Int], [String: Int]) = ([], [:], [:])
            for item in recording.entries(matching: filter) {
                let entry = redactor.map(item.entry.redacted) ?? item.entry
                guard var exchange = Exchange(entry, in: recording, redactor, limit: Self.bodyLimit) else {
                    omittedCount += 1
                    continue
                }
                if let place = places[exchange.key] {
                    exchanges[place].answers += exchange.answers
                    continue
                }
                places[exchange.key] = exchanges.count
                let count = names[exchange.name, default: 0] + 1
                names[exchange.name] = count
                if count > 1 { exchange.name += "_\(count)" }
                exchanges.append(exchange)
            }
            self.exchanges = exchanges
        }

        /// The number of tests.
        public var count: Int { exchanges.count }

        /// The source code of the file.
        public var source: String {
            """
            // swift-format-ignore-file
            // Made from \(title.filter { !$0.isNewline }) by `beagle log gen-test`. Call your own code with `recorded()`, and check its results.
            import BeagleNet
            import Foundation
            import Synchronization
            import Testing

            /// Returns the recorded responses. A repeated request gets the next one, and finally the last one again. A request
            /// that was not recorded is an error.
            func recorded() -> StubClient {
                let counter = RequestCounter()
                return StubClient { request in
                    let key = try await request.key
                    switch (key, counter.count(key)) {
            \(exchanges.map(\.cases).joined())        default:
                        throw NetworkError(.notStored, during: .build, "no response was recorded for \\(key)")
                    }
                }
            }

            @Suite struct RecordedTests {
            \(exchanges.map(\.test).joined(separator: "\n"))}

            private func request(_ method: String, _ url: String, _ type: String? = nil, _ body: Data? = nil) throws -> Request {
                var data = Request.RequestData(method: method)
                if let body { data.content = .data(body, contentType: type ?? "application/octet-stream") }
                return Request(url: try UrlBuilder().url(for: url), type: .rawRequest(data))
            }

            private func answer(_ status: Int, _ fields: KeyValuePairs<String, String>, _ body: Data) throws -> NetworkResponse {
                var head = HTTPResponse(status: HTTPResponse.Status(code: status))
                for (name, value) in fields {
                    head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
                }
                return NetworkResponse(data: body, response: head)
            }

            /// Bytes that are not text.
            private func bytes(_ base64: String) throws -> Data { try #require(Data(base64Encoded: base64)) }

            /// Counts how often each request was sent before.
            private final class RequestCounter: Sendable {
                private let counts = Mutex<[String: Int]>([:])

                func count(_ key: String) -> Int {
                    counts.withLock { counts in
                        defer { counts[key, default: 0] += 1 }
                        return counts[key, default: 0]
                    }
                }
            }

            extension Request {
                /// Method, URL and body without secrets, as in the recording. The body of a multipart form is left out, because its
                /// boundary is different each time.
                fileprivate var key: String {
                    get async throws {
                        let message = try HttpRequestBuilder().build(self)
                        let (head, redactor) = (message.head, Redactor())
                        let url = redactor.redact(url: "\\(head.scheme ?? "")://\\(head.authority ?? "")\\(head.path ?? "")")
                        let title = "\\(head.method.rawValue) \\(url)"
                        let type = head.headerFields[.contentType]
                        guard let body = try await message.body?.collect(), !body.isEmpty, type?.hasPrefix("multipart/") != true,
                            case .body(let sent) = redactor.redact(body: body, contentType: type)
                        else { return title }
                        return "\\(title) \\(String(data: sent, encoding: .utf8) ?? sent.base64EncodedString())"
                    }
                }
            }

            """
        }
    }
}

/// The entries of one request, as code.
private struct Exchange {
    var name: String
    /// The key of the request, equal to `key` in the generated code.
    let key: String
    var answers: [GeneratedCase]
    private let request: LogEntry.Request
    private let type: String
    /// The body to send; `nil` if the request has no body, or if the body is unknown.
    private let body: Data?

    /// Creates an exchange from an entry; returns `nil` if it cannot be expressed as code.
    init?(_ entry: LogEntry, in recording: Recording, _ redactor: Redactor?, limit: Int) {
        request = entry.request
        let sent = request.body.map { body in
            Result { () throws(NetworkError) in try recording.data(of: body, redactedBy: redactor) }
        }
        // An unknown body is not sent.
        if case .success(let data)? = sent, !data.isEmpty { body = data } else { body = nil }
        let named = request.fields["content-type"] ?? request.body?.mediaType ?? ""
        type = named.isEmpty ? "application/octet-stream" : named
        guard body?.count ?? 0 <= limit, let key = Self.key(of: request, type, body),
            let answer = GeneratedCase(entry, in: recording, redactor, limit: limit)
        else { return nil }
        self.key = key
        answers = [answer]
        name = Self.name(of: request)
    }

    /// Returns the key of a request; `nil` if the request cannot be sent.
    private static func key(of request: LogEntry.Request, _ type: String, _ body: Data?) -> String? {
        guard HTTPRequest.Method(request.method) != nil else { return nil }
        var data = Request.RequestData(method: request.method)
        if let body { data.content = .data(body, contentType: type) }
        let head: HTTPRequest
        do throws(NetworkError) {
            let url = try UrlBuilder().url(for: request.url)
            head = try HttpRequestBuilder().build(Request(url: url, type: .rawRequest(data))).head
        } catch {
            return nil
        }
        let redactor = Redactor()
        let title = "\(head.method.rawValue) \(redactor.redact(url: head.urlText))"
        guard let body, !type.hasPrefix("multipart/"),
            case .body(let sent) = redactor.redact(body: body, contentType: head.headerFields[.contentType])
        else { return title }
        return "\(title) \(String(data: sent, encoding: .utf8) ?? sent.base64EncodedString())"
    }

    /// Returns the name of a test, such as `getScreensHome` for `GET https://example.com/screens/home`.
    private static func name(of request: LogEntry.Request) -> String {
        let words = URLComponentsText(request.url).path.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.suffix(
            4
        )
        let path = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let method = request.method.lowercased().filter { $0.isASCII && $0.isLetter }
        return method + (path.isEmpty ? "Root" : String(path.prefix(60)))
    }

    /// The cases of the client's `switch`, one for each response.
    var cases: String {
        answers.enumerated().map { index, answer in
            let count = index == answers.count - 1 ? "_" : "\(index)"
            return "        case (\(key.literal), \(count)):\n            \(answer.code)\n"
        }.joined()
    }

    /// The code of the test, which sends the request once for each response.
    var test: String {
        let content = body.map { ", \(type.literal), \($0.literal)" } ?? ""
        let asked = "\(request.method.literal), \(request.url.literal)\(content)"
        let ask = ["let client = recorded()", "let sent = try request(\(asked))"]
        let lines = ask + answers.enumerated().flatMap { $1.checks($0 == 0 ? "" : "\($0 + 1)") }
        return "    @Test func \(name)() async throws {\n" + lines.map { "        \($0)\n" }.joined() + "    }\n"
    }
}

/// A recorded response, as code.
private struct GeneratedCase {
    private let status: Int
    private let fields: [LogEntry.Field]
    private let body: Data
    private let error: String?

    /// Creates a case from an entry; returns `nil` if it cannot be expressed as code.
    init?(_ entry: LogEntry, in recording: Recording, _ redactor: Redactor?, limit: Int) {
        let response = entry.response
        status = response?.status ?? 0
        error = entry.failed ? entry.error ?? "no response was recorded" : nil
        guard error != nil || (200...599).contains(status) else { return nil }
        // The body is decoded, so its length differs.
        let left: Set<String> = ["content-encoding", "content-length", "transfer-encoding", "connection"]
        fields = (response?.fields ?? []).filter { field in
            HTTPField.Name(field.name) != nil && !left.contains(field.name.lowercased())
        }
        do throws(NetworkError) {
            if let response, error == nil {
                body = try recording.data(of: response.body, redactedBy: redactor)
            } else {
                body = Data()
            }
        } catch {
            return nil
        }
        guard body.count <= limit else { return nil }
    }

    /// The statement that the client executes.
    var code: String {
        if let error { return "throw NetworkError(.network, during: .firstByte, \(error.literal))" }
        let fields = fields.map { "\($0.name.literal): \($0.value.literal)" }.joined(separator: ", ")
        return "return try answer(\(status), [\(fields.isEmpty ? ":" : fields)], \(body.literal))"
    }

    /// Returns the expectations of a test.
    ///
    /// - Parameter number: a suffix that makes the names of variables unique.
    func checks(_ number: String) -> [String] {
        let ask = "try await client.executeRequest(sent)"
        guard error != nil || !(200...299).contains(status) else {
            return [
                "let answer\(number) = \(ask)", "#expect(answer\(number).status.code == \(status))",
                "#expect(answer\(number).data.count == \(body.count))",
            ]
        }
        let isStatus = error == nil
        return [
            "let error\(number) = await #expect(throws: NetworkError.self) { \(ask) }",
            "#expect(error\(number)?.kind == \(isStatus ? ".status" : ".network"))",
        ] + (isStatus ? ["#expect(error\(number)?.response?.status.code == \(status))"] : [])
    }
}

extension Data {
    /// The bytes as a Swift literal, as text if possible.
    fileprivate var literal: String {
        String(validating: self, as: UTF8.self).map { "Data(\($0.literal).utf8)" }
            ?? "try bytes(\(base64EncodedString().literal))"
    }
}

extension String {
    /// The text as a Swift literal.
    fileprivate var literal: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Combining marks would join the preceding character; control and bidirectional characters would hide text.
            case _
            where scalar.value < 0x20 || scalar.value == 0x7F || !scalar.isASCII && !scalar.properties.isAlphabetic:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
