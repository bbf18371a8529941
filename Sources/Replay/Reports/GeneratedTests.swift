public import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file for Swift Testing with a client that answers as a recording did, and a test for each request of it: a beginning for
/// tests of an app's own code.
///
/// Requests are the same where method, URL and body are, secrets apart; the same one asked again gets the next answer.
/// Bodies of more than 64 KiB are left out, with their entries.
public struct GeneratedTests: Sendable {
    private static let bodyLimit = 64 << 10

    private let title: String
    private let exchanges: [Exchange]
    /// Entries that are not in the file.
    public private(set) var leftOut = 0

    /// Tests of what a recording holds.
    ///
    /// - Parameters:
    ///   - recording: what is told of.
    ///   - title: what the recording is called.
    ///   - filter: which entries are tested; all by default.
    ///   - redactor: takes out what is secret; nil leaves it in.
    public init(_ recording: Recording, title: String, filter: EntryFilter? = nil, redactor: Redactor? = Redactor()) {
        self.title = title
        var (exchanges, places, names): ([Exchange], [String: Int], [String: Int]) = ([], [:], [:])
        for item in recording.entries(matching: filter) {
            let entry = redactor.map(item.entry.redacted) ?? item.entry
            guard var exchange = Exchange(entry, in: recording, redactor, limit: Self.bodyLimit) else {
                leftOut += 1
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

    /// How many tests there are.
    public var count: Int { exchanges.count }

    /// The file.
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

/// Entries of one request as code.
private struct Exchange {
    var name: String
    /// What tells its request from others: as the file has it of a request, which `key` there gives.
    let key: String
    var answers: [RecordedCase]
    private let request: LoggedRequest
    private let type: String
    /// What is sent; nil where that is nothing, or nobody knows.
    private let body: Data?

    /// - Returns: nil where it cannot be told as code.
    init?(_ entry: LogEntry, in recording: Recording, _ redactor: Redactor?, limit: Int) {
        request = entry.request
        let sent = request.body.map { body in
            Result { () throws(NetworkError) in try recording.data(of: body, redactedBy: redactor) }
        }
        // Of what is not known nothing is asked.
        if case .success(let data)? = sent, !data.isEmpty { body = data } else { body = nil }
        let named = request.fields["content-type"] ?? request.body?.mediaType ?? ""
        type = named.isEmpty ? "application/octet-stream" : named
        guard body?.count ?? 0 <= limit, let key = Self.key(of: request, type, body),
            let answer = RecordedCase(entry, in: recording, redactor, limit: limit)
        else { return nil }
        self.key = key
        answers = [answer]
        name = Self.name(of: request)
    }

    /// - Returns: nil where it cannot be asked.
    private static func key(of request: LoggedRequest, _ type: String, _ body: Data?) -> String? {
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

    /// `getScreensHome` of `GET https://example.com/screens/home`.
    private static func name(of request: LoggedRequest) -> String {
        let words = URLPlace(request.url).path.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.suffix(4)
        let path = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let method = request.method.lowercased().filter { $0.isASCII && $0.isLetter }
        return method + (path.isEmpty ? "Root" : String(path.prefix(60)))
    }

    /// Cases of the client's: one for each answer.
    var cases: String {
        answers.enumerated().map { index, answer in
            let count = index == answers.count - 1 ? "_" : "\(index)"
            return "        case (\(key.literal), \(count)):\n            \(answer.code)\n"
        }.joined()
    }

    /// Asks as often as there are answers.
    var test: String {
        let content = body.map { ", \(type.literal), \($0.literal)" } ?? ""
        let asked = "\(request.method.literal), \(request.url.literal)\(content)"
        let ask = ["let client = recorded()", "let sent = try request(\(asked))"]
        let lines = ask + answers.enumerated().flatMap { $1.checks($0 == 0 ? "" : "\($0 + 1)") }
        return "    @Test func \(name)() async throws {\n" + lines.map { "        \($0)\n" }.joined() + "    }\n"
    }
}

/// An answer as code.
private struct RecordedCase {
    private let status: Int
    private let fields: [LoggedField]
    private let body: Data
    private let error: String?

    /// - Returns: nil where it cannot be told as code.
    init?(_ entry: LogEntry, in recording: Recording, _ redactor: Redactor?, limit: Int) {
        let response = entry.response
        status = response?.status ?? 0
        error = entry.failed ? entry.error ?? "no response was recorded" : nil
        guard error != nil || (200...599).contains(status) else { return nil }
        // The body is decoded, and of a length of its own.
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

    /// What the client does.
    var code: String {
        if let error { return "throw NetworkError(.network, during: .firstByte, \(error.literal))" }
        let fields = fields.map { "\($0.name.literal): \($0.value.literal)" }.joined(separator: ", ")
        return "return try answer(\(status), [\(fields.isEmpty ? ":" : fields)], \(body.literal))"
    }

    /// What a test expects of it.
    ///
    /// - Parameter number: tells it from others of the test.
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
    /// The bytes as Swift writes them: as text, where they are.
    fileprivate var literal: String {
        String(validating: self, as: UTF8.self).map { "Data(\($0.literal).utf8)" }
            ?? "try bytes(\(base64EncodedString().literal))"
    }
}

extension String {
    /// The text as Swift writes it.
    fileprivate var literal: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Marks would join what is before them; controls and directions would hide what is there.
            case _
            where scalar.value < 0x20 || scalar.value == 0x7F || !scalar.isASCII && !scalar.properties.isAlphabetic:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
