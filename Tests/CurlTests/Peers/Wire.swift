import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

extension LoopbackServer {
    /// A message to this server.
    func request(
        _ method: HTTPRequest.Method = .get,
        _ target: String = "/",
        _ fields: KeyValuePairs<String, String> = [:],
        body: HTTPBody? = nil,
        options: TransferOptions = TransferOptions(),
        delivery: TransferRequest.Delivery = .collect,
        scoped: Set<HTTPField.Name> = []
    ) throws -> TransferRequest {
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: authority,
            path: target,
            headerFields: try HTTPFields(pairs: fields)
        )
        return TransferRequest(head, body: body, options: options, delivery: delivery, originScopedFields: scoped)
    }
}

extension HTTPFields {
    init(pairs: KeyValuePairs<String, String>) throws {
        self.init()
        for (name, value) in pairs { append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
    }
}

extension HTTPTransport {
    /// Performs a message that a healthy server answers: proof that the transport still works.
    ///
    /// - Parameter isLongLived: whether where WebSockets and streams are; what these asked for before is done then.
    func proveHealth(isLongLived: Bool = false) async throws {
        let server = try LoopbackServer(.response(200, [:], "healthy"))
        var options = TransferOptions.impatient
        options.isLongLived = isLongLived
        let response = try await perform(server.request(options: options))
        #expect(try await response.text() == "healthy")
    }

    /// The error that a message ends with; a response fails the test.
    func failure(
        of request: TransferRequest,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> NetworkError {
        let error = await #expect(throws: NetworkError.self, sourceLocation: sourceLocation) {
            _ = try await perform(request).text()
        }
        return try #require(error, sourceLocation: sourceLocation)
    }
}

extension TransferResponse {
    func text() async throws -> String {
        String(decoding: try await body.collect(), as: UTF8.self)
    }
}

/// What a table expects of a transfer.
enum Expectation: Sendable {
    /// A response of this status, with this body unless it is nil.
    case response(Int, String? = nil)
    /// One of these errors.
    case failure([NetworkError.Kind])
    /// A response of this status or one of these errors: what is right is left open.
    case either(Int, [NetworkError.Kind])

    /// Whether an error of this kind is one of those expected.
    func allows(_ kind: NetworkError.Kind) -> Bool {
        switch self {
        case .response: false
        case .failure(let kinds), .either(_, let kinds): kinds.contains(kind)
        }
    }

    func check(_ result: Result<(Int, String), NetworkError>, sourceLocation: SourceLocation) {
        switch (self, result) {
        case (.response(let status, let body), .success((let code, let text))):
            #expect(code == status, sourceLocation: sourceLocation)
            if let body { #expect(text == body, sourceLocation: sourceLocation) }
        case (.either(let status, _), .success((let code, _))):
            #expect(code == status, sourceLocation: sourceLocation)
        case (.failure(let kinds), .failure(let error)), (.either(_, let kinds), .failure(let error)):
            #expect(kinds.contains(error.kind), "\(error)", sourceLocation: sourceLocation)
        case (.failure, .success(let response)):
            Issue.record("a response where an error was due: \(response)", sourceLocation: sourceLocation)
        case (.response, .failure(let error)):
            Issue.record(error, sourceLocation: sourceLocation)
        }
    }
}

/// A row of a table: how the server behaves, and what has to come of it.
struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: LoopbackServer.Answer
    let expected: Expectation
    var method = HTTPRequest.Method.get
    var options = TransferOptions.impatient

    init(
        _ name: String,
        _ answer: LoopbackServer.Answer,
        _ expected: Expectation,
        method: HTTPRequest.Method = .get,
        options: TransferOptions = .impatient
    ) {
        testDescription = name
        self.answer = answer
        self.expected = expected
        self.method = method
        self.options = options
    }

    /// Whether the process does nothing beside, so that its memory tells of this message.
    private static let isAlone = ProcessInfo.processInfo.environment["BEAGLENET_FAULTS"] != nil
    /// Far more than any answer of the tables holds, and less than an endless one would fill.
    private static let room = 16 << 20

    /// Performs the message and proves that the same transport still works afterwards.
    func run(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        guard Self.isAlone else { return try await perform(sourceLocation) }
        let peak = try #require(try await peak(of: { try await perform(sourceLocation) }), "the system does not tell")
        print("\(peak >> 10) KiB more at the peak: \(testDescription)")
        #expect(peak < Self.room, sourceLocation: sourceLocation)
    }

    private func perform(_ sourceLocation: SourceLocation) async throws {
        let server = try LoopbackServer(answer)
        let transport = CurlTransport()
        let request = try server.request(method, options: options)
        let result: Result<(Int, String), NetworkError>
        do throws(NetworkError) {
            let response = try await transport.perform(request)
            let body = try await response.body.collect()
            result = .success((response.head.status.code, String(decoding: body, as: UTF8.self)))
        } catch {
            result = .failure(error)
        }
        expected.check(result, sourceLocation: sourceLocation)
        try await transport.proveHealth()
    }
}
