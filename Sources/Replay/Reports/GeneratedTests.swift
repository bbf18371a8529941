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
/// Only the first answer to a method and URL is in it. Bodies of more than 64 KiB are left out, with their entries.
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
        var (exchanges, seen, names): ([Exchange], Set<String>, [String: Int]) = ([], [], [:])
        for item in recording.entries(matching: filter) {
            let entry = redactor.map(item.entry.redacted) ?? item.entry
            guard seen.insert("\(entry.request.method) \(entry.request.url)").inserted,
                var exchange = Exchange(entry, in: recording, redactor, limit: Self.bodyLimit)
            else {
                leftOut += 1
                continue
            }
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
        // Made of \(title.filter { !$0.isNewline }) by `beagle log gen-test`. Let your own code ask `recorded`, and say what must come of it.
        import BeagleNet
        import Foundation
        import Testing

        /// Answers as they were recorded; what was not recorded is an error.
        let recorded = StubClient { request in
            switch "\\(request.method) \\(request.url)" {
        \(exchanges.map(\.answer).joined())    default:
                throw NetworkError(.notStored, during: .build, "nothing was recorded for \\(request.method) \\(request.url)")
            }
        }

        @Suite struct RecordedTests {
        \(exchanges.map(\.test).joined(separator: "\n"))}

        private func request(_ method: String, _ url: String) throws -> Request {
            Request(url: try #require(URL(string: url)), type: .rawRequest(Request.RequestData(method: method)))
        }

        private func answer(_ status: Int, _ fields: KeyValuePairs<String, String>, _ body: Data) throws -> NetworkResponse {
            var head = HTTPResponse(status: HTTPResponse.Status(code: status))
            for (name, value) in fields {
                head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
            }
            return NetworkResponse(data: body, response: head)
        }

        extension Request {
            fileprivate var method: String {
                switch type {
                case .fetchComponent, .fetchImage: "GET"
                case .submitForm(let form): form.method.rawValue
                case .rawRequest(let data): data.method ?? "GET"
                }
            }
        }

        """
    }
}

/// An entry as code.
private struct Exchange {
    var name: String
    private let request: LoggedRequest
    /// Its URL as Foundation has it, which escapes what may not stand in one.
    private let asked: String
    private let status: Int
    private let fields: [LoggedField]
    private let body: Data
    private let error: String?

    /// - Returns: nil where it cannot be told as code.
    init?(_ entry: LogEntry, in recording: Recording, _ redactor: Redactor?, limit: Int) {
        request = entry.request
        guard HTTPRequest.Method(request.method) != nil, let url = URL(string: request.url) else { return nil }
        asked = url.absoluteString
        let response = entry.response
        status = response?.status ?? 0
        error = entry.failed ? entry.error ?? "no answer was recorded" : nil
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
        name = Self.name(of: request)
    }

    /// `getScreensHome` of `GET https://example.com/screens/home`.
    private static func name(of request: LoggedRequest) -> String {
        let words = URLPlace(request.url).path.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.suffix(4)
        let path = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let method = request.method.lowercased().filter { $0.isASCII && $0.isLetter }
        return method + (path.isEmpty ? "Root" : String(path.prefix(60)))
    }

    /// A case of the client's.
    var answer: String {
        let what = "    case \("\(request.method) \(asked)".literal):\n"
        if let error {
            return what + "        throw NetworkError(.network, during: .firstByte, \(error.literal))\n"
        }
        let fields = fields.map { "\($0.name.literal): \($0.value.literal)" }.joined(separator: ", ")
        let data =
            String(validating: body, as: UTF8.self).map { "Data(\($0.literal).utf8)" }
            ?? "try #require(Data(base64Encoded: \(body.base64EncodedString().literal)))"
        return what + "        return try answer(\(status), [\(fields.isEmpty ? ":" : fields)], \(data))\n"
    }

    var test: String {
        let ask = "try await recorded.executeRequest(request(\(request.method.literal), \(request.url.literal)))"
        let lines: [String]
        if error != nil || !(200...299).contains(status) {
            lines =
                [
                    "let error = await #expect(throws: NetworkError.self) { \(ask) }",
                    "#expect(error?.kind == \(error == nil ? ".status" : ".network"))",
                ] + (error == nil ? ["#expect(error?.response?.status.code == \(status))"] : [])
        } else {
            lines = [
                "let answer = \(ask)", "#expect(answer.status.code == \(status))",
                "#expect(answer.data.count == \(body.count))",
            ]
        }
        return "    @Test func \(name)() async throws {\n" + lines.map { "        \($0)\n" }.joined() + "    }\n"
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
