import struct BeagleNetHTTP.NetworkError
import enum BeagleNetHTTP.SHA256Digest
import FlyingFox
import Foundation

/// What the demo backend answers, route by route.
final class BackendRoutes: HTTPHandler {
    private let signups = Signups()
    private let echoMessages = WebSocketHTTPHandler(handler: MessageFrameWSHandler(handler: EchoWSMessageHandler()))

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let route = request.method == .HEAD ? HTTPMethod.GET : request.method
        var response =
            switch (route, request.path) {
            case (_, "/echo"): try await echo(request)
            case (_, "/ws"): try await echoMessages.handleRequest(request)
            case (_, "/fail"): Self.problem(.internalServerError, "this route always fails")
            case (.GET, "/"): try Self.text(DemoScreens.index, for: request)
            case (.GET, "/home"): try Self.text(DemoScreens.home, for: request)
            case (.GET, "/details"): try Self.text(DemoScreens.details, for: request)
            case (.GET, "/signup"): try Self.text(DemoScreens.signup, for: request)
            case (.POST, "/signup"), (.PUT, "/signup"): try await signUp(request)
            case (.POST, "/feedback"): try await feedback(request)
            case (.POST, "/upload"), (.PUT, "/upload"): try await Self.upload(request)
            case (.GET, "/lazy/news"): try Self.text(DemoScreens.news, for: request)
            case (.GET, "/img/banner.png"): try Self.tagged(Self.banner, "image/png", for: request)
            case (.GET, "/img/logo.png"): try Self.tagged(Self.logo, "image/png", for: request)
            case (.GET, "/redirect"): HTTPResponse(statusCode: .found, headers: HTTPHeaders([.location: "/home"]))
            case (.GET, "/slow"): try await slow(request)
            case (.GET, "/events"): Self.events(behind: request.headers[HTTPHeader("Last-Event-ID")])
            case (_, let path) where Self.readOnlyPaths.contains(path): Self.methodNotAllowed(request)
            default: Self.problem(.notFound, "there is no \(request.path) here; GET / lists the routes")
            }
        if request.method == .HEAD {
            response.headers[.contentLength] = try await String(response.bodyData.count)
            response.payload = .httpBody(HTTPBodySequence())
        }
        return response
    }

    // MARK: - Routes

    private static let readOnlyPaths: Set = [
        "/", "/home", "/details", "/signup", "/lazy/news", "/img/banner.png", "/img/logo.png", "/redirect", "/slow",
        "/events",
    ]

    private static let banner = PNGImage(width: 160, height: 48) { x, y in
        (UInt8(x + 64), UInt8(2 * y + 96), UInt8(255 - x))
    }.data

    private static let logo = PNGImage(width: 32, height: 32) { x, y in
        let isInside = (x - 16) * (x - 16) + (y - 16) * (y - 16) < 196
        return isInside ? (214, 69, 65) : (255, 255, 255)
    }.data

    private func slow(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await Task.sleep(for: .seconds(5))
        return try Self.text(DemoScreens.details, for: request)
    }

    /// Three events and the end of the answer: whoever follows has to come again for those behind.
    private static func events(behind lastEventID: String?) -> HTTPResponse {
        let first = (lastEventID.flatMap(Int.init) ?? 0) % 1_000_000 + 1
        let events = (first..<first + 3).map { "id: \($0)\nevent: tick\ndata: tick \($0)\n\n" }.joined()
        let body = Data("retry: 500\n\n\(events)".utf8)
        return HTTPResponse(statusCode: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }

    private func echo(_ request: HTTPRequest) async throws -> HTTPResponse {
        struct Echo: Encodable {
            let method: String
            let path: String
            let query: String
            let headers: [String: String]
            let body: String
        }
        let headers = Dictionary(request.headers.map { ($0.key.rawValue, $0.value) }) { "\($0), \($1)" }
        return try await Self.json(
            .ok,
            Echo(
                method: request.method.rawValue,
                path: request.path,
                query: request.target.query(),
                headers: headers,
                body: String(decoding: request.bodyData, as: UTF8.self)
            )
        )
    }

    private func signUp(_ request: HTTPRequest) async throws -> HTTPResponse {
        struct Created: Encodable {
            let id: Int
        }
        let contentType = request.headers[.contentType] ?? ""
        guard let form = try await SignupForm(request.bodySequence, contentType: contentType) else {
            return Self.problem(.unsupportedMediaType, "send a JSON object, urlencoded pairs or multipart")
        }
        guard form.complaints.isEmpty else { return try Self.refuse(form, of: request) }
        let (id, isNew) = signups.id(under: request.headers[HTTPHeader("Idempotency-Key")])
        // Who asks for it learns what becomes of an answer that is lost after the server has acted.
        if isNew, request.query["answer"] == "lost" {
            return HTTPResponse(statusCode: .created, body: HTTPBodySequence(from: LostAnswer(), count: 1))
        }
        var response = try Self.json(.created, Created(id: id))
        response.headers[.location] = "/signup/\(id)"
        return response
    }

    /// Takes anything and has nothing to say.
    private func feedback(_ request: HTTPRequest) async throws -> HTTPResponse {
        for try await _ in request.bodySequence {}
        return HTTPResponse(statusCode: .noContent)
    }

    /// Tells what came, of files no more than their size: a body may be larger than the memory.
    private static func upload(_ request: HTTPRequest) async throws -> HTTPResponse {
        struct Received: Encodable {
            let parts: [ReceivedPart]
        }
        do {
            let contentType = request.headers[.contentType] ?? ""
            let parts = try await ReceivedPart.all(of: request.bodySequence, contentType: contentType)
            return try json(.created, Received(parts: parts))
        } catch let error as NetworkError {
            return problem(.badRequest, error.message)
        }
    }

    /// Says what is wrong with a form: as a problem (RFC 9457) where that is asked for, else as a list of errors.
    private static func refuse(_ form: SignupForm, of request: HTTPRequest) throws -> HTTPResponse {
        struct Errors: Encodable {
            let errors: [SignupForm.Complaint]
        }
        guard request.headers[.accept]?.contains("application/problem+json") == true else {
            return try json(.unprocessableContent, Errors(errors: form.complaints))
        }
        let errors = form.complaints.map { Problem.Detail(pointer: "#/\($0.field)", detail: $0.message) }
        return problem(.unprocessableContent, "the form has fields to correct", errors: errors)
    }

    private static func methodNotAllowed(_ request: HTTPRequest) -> HTTPResponse {
        var response = problem(.methodNotAllowed, "\(request.path) does not take \(request.method.rawValue)")
        response.headers[.allow] = request.path == "/signup" ? "GET, HEAD, POST, PUT" : "GET, HEAD"
        return response
    }

    // MARK: - Answers

    private static func json(_ status: HTTPStatusCode, _ value: some Encodable) throws -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(value) + Data("\n".utf8)
        return HTTPResponse(statusCode: status, headers: [.contentType: "application/json"], body: body)
    }

    /// A JSON document with its validators.
    private static func text(_ document: String, for request: HTTPRequest) throws -> HTTPResponse {
        try tagged(Data("\(document)\n".utf8), "application/json", for: request)
    }

    /// A body with its `ETag` and `beagle-hash`; 304 without the body where the request has either of them.
    private static func tagged(_ body: Data, _ contentType: String, for request: HTTPRequest) throws -> HTTPResponse {
        let hash = try SHA256Digest.hex(of: body)
        let tag = "\"\(hash.prefix(32))\""
        let known = request.headers.values(for: .ifNoneMatch).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let isKnown = known.contains(tag) || known.contains("W/\(tag)") || known == ["*"]
        var headers: HTTPHeaders = [.beagleHash: hash, .cacheControl: "no-cache", .eTag: tag]
        guard !isKnown && request.headers[.beagleHash] != hash else {
            // The length that a 200 would have had (RFC 9110, 8.6), or the server would say 0.
            headers[.contentLength] = String(body.count)
            return HTTPResponse(statusCode: .notModified, headers: headers)
        }
        headers[.contentType] = contentType
        return HTTPResponse(statusCode: .ok, headers: headers, body: body)
    }

    private struct Problem: Encodable {
        struct Detail: Encodable {
            let pointer: String
            let detail: String
        }
        var type = "about:blank"
        let title: String
        let status: Int
        let detail: String
        let errors: [Detail]?
    }

    /// An error as RFC 9457 has it.
    private static func problem(
        _ status: HTTPStatusCode,
        _ detail: String,
        errors: [Problem.Detail]? = nil
    ) -> HTTPResponse {
        let problem = Problem(title: status.phrase, status: status.code, detail: detail, errors: errors)
        guard var response = try? json(status, problem) else { return HTTPResponse(statusCode: status) }
        response.headers[.contentType] = "application/problem+json"
        return response
    }
}

extension HTTPHeader {
    fileprivate static let accept = HTTPHeader("Accept")
    fileprivate static let allow = HTTPHeader("Allow")
    fileprivate static let beagleHash = HTTPHeader("beagle-hash")
    fileprivate static let ifNoneMatch = HTTPHeader("If-None-Match")
}
