import BeagleNetHTTP
import Foundation

/// A line of the input of `beagle batch`, whose members are read on demand.
struct BatchLine {
    /// The id that a reply shares with its request, or null if the line has none.
    let id: JSONValue
    private let members: [String: JSONValue]

    /// Reads a line.
    ///
    /// - Throws: `NetworkError` of kind `.badRequest` if the line isn't a JSON object.
    init(_ text: String) throws(NetworkError) {
        let value: JSONValue
        do throws(NetworkError) {
            value = try JSONValue(parsing: text)
        } catch {
            throw .badLine("the line is not a request: \(error.message)")
        }
        guard let members = value.object else { throw .badLine("the line is not a JSON object") }
        self.members = members
        id = members["id"] ?? .null
    }

    /// The control operation (`hello`, `clear` or `quit`), or `nil` for a request.
    var operation: String? { members["op"].map { $0.string ?? "" } }

    /// The stored responses that are acceptable, in the words of Fetch
    /// (https://fetch.spec.whatwg.org/#concept-request-cache-mode).
    enum CacheMode: String, CaseIterable {
        case standard = "default"
        case noStore = "no-store"
        case reload
        case noCache = "no-cache"
        case forceCache = "force-cache"
        case onlyIfCached = "only-if-cached"
    }

    /// The cache mode; `default` if the line has none.
    func cacheMode() throws(NetworkError) -> CacheMode {
        let modes = Dictionary(uniqueKeysWithValues: CacheMode.allCases.map { ($0.rawValue, $0) })
        return try choice("cacheMode", modes) ?? .standard
    }

    /// Returns the content of a request that may share the response to an equal one that is running: a GET request
    /// without a body, in the default cache mode. `nil` for others.
    func shareableContent() throws(NetworkError) -> JSONValue? {
        guard try method() == .get, try cacheMode() == .standard, try body() == nil else { return nil }
        return .object(members.filter { $0.key != "id" })
    }

    /// Returns the request that the line describes.
    func request() throws(NetworkError) -> TransferRequest {
        guard let url = try text("url") else {
            throw NetworkError(.badURL, during: .build, "the line has no url")
        }
        var head = try HTTPRequest(method: method(), absoluteURL: url)
        head.headerFields = try fields()
        return TransferRequest(head, body: try body(), options: try options())
    }

    private func method() throws(NetworkError) -> HTTPRequest.Method {
        let name = try text("method") ?? "GET"
        guard let method = HTTPRequest.Method(name) else { throw .badLine("the method is not a token (RFC 9110, 9.1)") }
        return method
    }

    private func fields() throws(NetworkError) -> HTTPFields {
        var fields = HTTPFields()
        guard let pairs = members["headers"], pairs != .null else { return fields }
        for pair in pairs.array ?? [.null] {
            guard let pair = pair.array, pair.count == 2, let text = pair[0].string, let given = pair[1].string else {
                throw .badLine("headers is not an array of [\"Name\", \"value\"]")
            }
            guard let name = HTTPField.Name(text) else { throw .badLine("a header name is not a token") }
            // Surrounding white space isn't part of a value (RFC 9110, 5.5).
            let value = given.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
            guard HTTPField.isValidValue(value) else {
                throw .badLine("the value of header \(text) contains a line break or NUL")
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    private func body() throws(NetworkError) -> HTTPBody? {
        let given = ["body", "bodyBase64", "bodySize"].filter { members[$0] ?? .null != .null }
        guard given.count < 2 else { throw .badLine("\(given.joined(separator: " and ")) cannot be used together") }
        if let text = try text("body") { return HTTPBody(text) }
        if let text = try text("bodyBase64") {
            guard let bytes = Data(base64Encoded: text) else { throw .badLine("bodyBase64 is not Base64") }
            return HTTPBody(bytes)
        }
        guard let size = try count("bodySize") else { return nil }
        return HTTPBody.stream(length: Int64(size), isReplayable: true) { FillerChunks(count: size) }
    }

    private func options() throws(NetworkError) -> TransferOptions {
        var options = TransferOptions()
        if let limit = try count("timeoutMs") {
            options.timeouts = TransferOptions.Timeouts(
                connect: nil,
                firstByte: nil,
                idle: nil,
                total: .milliseconds(limit)
            )
        }
        if let limit = try count("connectTimeoutMs") { options.timeouts.connect = .milliseconds(limit) }
        if let limit = try count("maxBodyBytes") { options.maxBodyBytes = limit }
        if let path = try text("tlsCA") { options.trust = .file(path: path) }
        options.redirects = try choice("redirect", ["follow": .follow, "manual": .manual]) ?? .follow
        options.version = try choice("httpVersion", ["1.1": .http1, "2": .http2, "3": .http3]) ?? .automatic
        return options
    }

    // MARK: - Members

    private func text(_ name: String) throws(NetworkError) -> String? {
        guard let value = members[name], value != .null else { return nil }
        guard let text = value.string else { throw .badLine("\(name) is not a string") }
        return text
    }

    private func count(_ name: String) throws(NetworkError) -> Int? {
        guard let value = members[name], value != .null else { return nil }
        guard let count = value.integer, (0...(1 << 40)).contains(count) else {
            throw .badLine("\(name) is not a whole number of 0 or more")
        }
        return Int(count)
    }

    private func choice<T>(_ name: String, _ values: [String: T]) throws(NetworkError) -> T? {
        guard let word = try text(name) else { return nil }
        guard let value = values[word] else {
            throw .badLine("\(name) is not one of \(values.keys.sorted().joined(separator: ", "))")
        }
        return value
    }
}

extension NetworkError {
    fileprivate static func badLine(_ message: String) -> NetworkError {
        NetworkError(.badRequest, during: .build, message)
    }
}

extension HTTPRequest {
    /// Creates a request whose target is copied from the URL byte for byte. The fragment isn't sent.
    fileprivate init(method: Method, absoluteURL url: String) throws(NetworkError) {
        guard let mark = url.range(of: "://"), mark.lowerBound > url.startIndex else {
            throw NetworkError(.badURL, during: .build, "the URL has no scheme", advice: "write http://HOST:PORT/PATH")
        }
        let rest = url[mark.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest.dropFirst(authority.count)
        let scheme = url[..<mark.lowerBound].lowercased()
        let path = target.hasPrefix("/") ? String(target) : "/\(target)"
        self.init(method: method, scheme: scheme, authority: String(authority), path: path)
    }
}

/// A stream of `count` bytes, all `u`, in chunks of 64 KiB.
private struct FillerChunks: AsyncSequence, AsyncIteratorProtocol {
    var count: Int

    mutating func next() -> Data? {
        guard count > 0 else { return nil }
        let chunk = Data(repeating: UInt8(ascii: "u"), count: Swift.min(count, 64 << 10))
        count -= chunk.count
        return chunk
    }

    func makeAsyncIterator() -> FillerChunks { self }
}
