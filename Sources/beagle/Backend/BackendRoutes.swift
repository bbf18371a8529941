import BeagleNetHTTP
import Foundation

/// The routes of the demo backend.
final class BackendRoutes: Sendable {
    private let signups = Signups()
    private let graphQL = DemoGraphQL()

    /// Returns the response to a request, on the thread of its connection.
    ///
    /// - Throws: `RequestFault` if the body can't be read, or the reason that the connection ends.
    func respond(to request: BackendRequest) throws -> BackendResponse {
        switch (request.method == "HEAD" ? "GET" : request.method, request.path) {
        case (_, "/echo"): try Self.echo(request)
        case (_, "/ws"): try BackendWebSocket.accepting(request) { socket, _ in try Self.echo(socket) }
        case (_, "/fail"): try .problem(.internalServerError, "this route always fails")
        case ("GET", "/"): try Self.text(DemoScreens.index, for: request)
        case ("GET", "/home"): try Self.text(DemoScreens.home, for: request)
        case ("GET", "/details"): try Self.text(DemoScreens.details, for: request)
        case ("GET", "/signup"): try Self.text(DemoScreens.signup, for: request)
        case ("POST", "/signup"), ("PUT", "/signup"): try signUp(request)
        case ("POST", "/feedback"): try Self.feedback(request)
        case ("POST", "/upload"), ("PUT", "/upload"): try Self.upload(request)
        case ("GET", "/lazy/news"): try Self.text(DemoScreens.news, for: request)
        case ("GET", "/img/banner.png"): try Self.tagged(Self.banner, "image/png", "max-age=3600", for: request)
        case ("GET", "/img/logo.png"): try Self.tagged(Self.logo, "image/png", "max-age=3600", for: request)
        case ("GET", "/cached"): try Self.text(DemoScreens.news, "max-age=60", for: request)
        case ("GET", "/varied"): try Self.varied(request)
        case ("GET", "/file"): try Self.tagged(Self.file, "application/octet-stream", for: request)
        case ("GET", "/graphql"), ("POST", "/graphql"): try graphQL.respond(to: request)
        case ("GET", "/redirect"): BackendResponse(.found, [.location: "/home"])
        case ("GET", "/slow"): try Self.slow(request)
        case ("GET", let path) where Self.faults.contains(path): try Self.fault(request)
        case ("GET", "/events"): Self.events(behind: request.fields[.lastEventID])
        case (_, let path) where Self.methods[path] != nil: try Self.methodNotAllowed(request)
        default: try .problem(.notFound, "there is no route \(request.path); GET / lists the routes")
        }
    }

    // MARK: - Routes

    /// The allowed methods of routes that don't accept every method.
    private static let methods = [
        "/signup": "GET, HEAD, POST, PUT", "/graphql": "GET, HEAD, POST", "/feedback": "POST", "/upload": "POST, PUT",
    ].merging(
        [
            "/", "/home", "/details", "/lazy/news", "/img/banner.png", "/img/logo.png", "/cached", "/varied",
            "/file", "/redirect", "/slow", "/events",
        ].map { ($0, "GET, HEAD") } + faults.map { ($0, "GET, HEAD") }
    ) { first, _ in first }

    private static let banner = PNGImage(width: 160, height: 48) { x, y in
        (UInt8(x + 64), UInt8(2 * y + 96), UInt8(255 - x))
    }.data

    static let logo = PNGImage(width: 32, height: 32) { x, y in
        let isInside = (x - 16) * (x - 16) + (y - 16) * (y - 16) < 196
        return isInside ? (214, 69, 65) : (255, 255, 255)
    }.data

    /// A file of 1 MiB for range requests, in which each line contains its own offset.
    private static let file = Data((0..<65_536).map { String(format: "line at %07x\n", $0 * 16) }.joined().utf8)

    /// Returns a greeting in the language that the request prefers, Portuguese or English, which is fresh for a minute.
    private static func varied(_ request: BackendRequest) throws -> BackendResponse {
        let isPortuguese = request.list(.acceptLanguage).first?.hasPrefix("pt") == true
        var response = try text(DemoScreens.greeting(isPortuguese ? "Olá" : "Hello"), "max-age=60", for: request)
        response.fields[.vary] = "Accept-Language"
        response.fields[.contentLanguage] = isPortuguese ? "pt" : "en"
        return response
    }

    private static func slow(_ request: BackendRequest) throws -> BackendResponse {
        try request.body.pause(.seconds(5))
        return try text(DemoScreens.details, for: request)
    }

    /// Returns three events and ends the response. The client must reconnect for later events.
    private static func events(behind lastEventID: String?) -> BackendResponse {
        let first = (lastEventID.flatMap(Int.init) ?? 0) % 1_000_000 + 1
        let events = (first..<first + 3).map { "id: \($0)\nevent: tick\ndata: tick \($0)\n\n" }.joined()
        let body = Data("retry: 500\n\n\(events)".utf8)
        return BackendResponse(.ok, [.contentType: "text/event-stream"], body)
    }

    /// Returns a JSON description of the request. Fields with the same name are joined as RFC 9110, 5.3 allows.
    private static func echo(_ request: BackendRequest) throws -> BackendResponse {
        struct Echo: Encodable {
            let method: String
            let path: String
            let query: String
            let headers: [String: String]
            let body: String
        }
        var headers: [String: String] = [:]
        for name in Set(request.fields.map(\.name)) {
            let separator = name == .cookie ? "; " : ", "
            headers[name.rawName] = request.fields[values: name].joined(separator: separator)
        }
        return try .json(
            .ok,
            Echo(
                method: request.method,
                path: request.path,
                query: request.query,
                headers: headers,
                body: String(decoding: try request.body.collect(), as: UTF8.self)
            )
        )
    }

    private static func echo(_ socket: BackendWebSocket) throws {
        while true {
            switch try socket.next() {
            case .message(let message): try socket.send(message)
            case .timeout: break
            case .closed: return
            }
        }
    }

    private func signUp(_ request: BackendRequest) throws -> BackendResponse {
        struct Created: Encodable {
            let id: Int
        }
        guard let form = try SignupForm(request.body, contentType: request.fields[.contentType] ?? "") else {
            return try .problem(.unsupportedMediaType, "send a JSON object, urlencoded pairs or multipart")
        }
        guard form.fieldErrors.isEmpty else { return try Self.reject(form, of: request) }
        let (id, isNew) = signups.id(under: request.fields[.idempotencyKey])
        // Lets clients test a response that is lost after the server has acted.
        if isNew, request.item("answer") == "lost" { return BackendResponse(.created, [:], .lost) }
        var response = try BackendResponse.json(.created, Created(id: id))
        response.fields[.location] = "/signup/\(id)"
        return response
    }

    /// Accepts any body, and responds without one.
    private static func feedback(_ request: BackendRequest) throws -> BackendResponse {
        while try request.body.next() != nil {}
        return BackendResponse(.noContent)
    }

    /// Returns a JSON description of the parts. Only the size of files is kept, because a body may be larger than the
    /// memory.
    private static func upload(_ request: BackendRequest) throws -> BackendResponse {
        struct Received: Encodable {
            let parts: [ReceivedPart]
        }
        do {
            let parts = try ReceivedPart.all(of: request.body, contentType: request.fields[.contentType] ?? "")
            return try .json(.created, Received(parts: parts))
        } catch let error as NetworkError {
            return try .problem(.badRequest, error.message)
        }
    }

    /// Returns the validation errors of a form, as problem details (RFC 9457) if the client accepts them, or as a list
    /// otherwise.
    private static func reject(_ form: SignupForm, of request: BackendRequest) throws -> BackendResponse {
        struct Errors: Encodable {
            let errors: [SignupForm.FieldError]
        }
        guard request.fields[.accept]?.contains("application/problem+json") == true else {
            return try .json(.unprocessableContent, Errors(errors: form.fieldErrors))
        }
        let errors = form.fieldErrors.map {
            BackendResponse.Problem.Detail(pointer: "#/\($0.field)", detail: $0.message)
        }
        return try .problem(.unprocessableContent, "some fields of the form are invalid", errors: errors)
    }

    private static func methodNotAllowed(_ request: BackendRequest) throws -> BackendResponse {
        var response = try BackendResponse.problem(
            .methodNotAllowed,
            "\(request.path) does not support \(request.method)"
        )
        response.fields[.allow] = methods[request.path]
        return response
    }

    // MARK: - Validated bodies

    /// Returns a JSON body with its validators. By default, a stored response must be validated if the server can be
    /// reached.
    static func text(
        _ document: String,
        _ cacheControl: String = "max-age=0",
        for request: BackendRequest
    ) throws -> BackendResponse {
        try tagged(Data("\(document)\n".utf8), "application/json", cacheControl, for: request)
    }

    /// Returns a body with its `ETag` and `beagle-hash`, or the requested range of it. Returns 304 without a body if
    /// the request has either validator.
    static func tagged(
        _ body: Data,
        _ contentType: String,
        _ cacheControl: String = "no-cache",
        for request: BackendRequest
    ) throws -> BackendResponse {
        let hash = try SHA256Digest.hex(of: body)
        let tag = "\"\(hash.prefix(32))\""
        let known = request.fields[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let isKnown = known.contains(tag) || known.contains("W/\(tag)") || known == ["*"]
        var fields: HTTPFields = [
            .acceptRanges: "bytes", .beagleHash: hash, .cacheControl: cacheControl, .eTag: tag,
        ]
        guard !isKnown && request.fields[.beagleHash] != hash else {
            // The length of the body in a 200 response (RFC 9110, 8.6).
            fields[.contentLength] = String(body.count)
            return BackendResponse(.notModified, fields)
        }
        fields[.contentType] = contentType
        let condition = request.fields[.ifRange]
        guard request.method == "GET", condition == nil || condition == tag,
            let range = ByteRange(request.fields[values: .range], of: body.count)
        else { return BackendResponse(.ok, fields, body) }
        guard case .bytes(let bytes) = range else {
            var refusal = try BackendResponse.problem(.rangeNotSatisfiable, "the file has \(body.count) bytes")
            refusal.fields[.contentRange] = "bytes */\(body.count)"
            return refusal
        }
        fields[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(body.count)"
        return BackendResponse(.partialContent, fields, Data(body[bytes]))
    }
}

/// A requested range of bytes (RFC 9110, 14.2).
enum ByteRange: Equatable {
    case bytes(Range<Int>)
    case unsatisfiable

    /// Reads `bytes=0-9`, `bytes=10-` or `bytes=-10`. Returns `nil` for any other value, such as several ranges, which
    /// a server may ignore.
    ///
    /// - Parameter count: The number of bytes of the whole body.
    init?(_ fields: [String], of count: Int) {
        guard fields.count == 1, fields[0].lowercased().hasPrefix("bytes=") else { return nil }
        let ends = fields[0].dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.contains(where: { !$0.isEmpty }),
            ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        // A number that doesn't fit in `Int` is beyond the end of any file.
        let numbers = ends.map { $0.isEmpty ? nil : Int($0) ?? .max }
        switch (numbers[0], numbers[1]) {
        case (nil, let length?):
            self = length > 0 && count > 0 ? .bytes(max(0, count - length)..<count) : .unsatisfiable
        case (let first?, let last):
            guard first <= last ?? .max else { return nil }
            self = first < count ? .bytes(first..<min(last ?? .max, count - 1) + 1) : .unsatisfiable
        case (nil, nil): return nil
        }
    }
}

extension HTTPField.Name {
    fileprivate static let beagleHash = HTTPField.Name("beagle-hash")!
    fileprivate static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
