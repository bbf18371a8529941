import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

extension LoopbackServer {
    /// Makes a request to this server.
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
    /// Proves that the transport still works by performing a request to a healthy server.
    ///
    /// - Parameter isLongLived: Whether to use the loop of WebSockets and streams, which has processed its earlier
    /// commands when this method returns.
    func proveHealth(isLongLived: Bool = false) async throws {
        let server = try LoopbackServer(.response(200, [:], "healthy"))
        var options = TransferOptions.limited
        options.isLongLived = isLongLived
        let response = try await perform(server.request(options: options))
        #expect(try await response.text() == "healthy")
    }

    /// Returns the error of a request. A response fails the test.
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

/// The expected result of a transfer in a table.
enum Expectation: Sendable {
    /// A response with this status and, unless it is `nil`, this body.
    case response(Int, String? = nil)
    /// One of these errors.
    case failure([NetworkError.Kind])
    /// Either a response with this status or one of these errors.
    case either(Int, [NetworkError.Kind])

    /// Whether an error of this kind is expected.
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
            Issue.record("expected an error, but got a response: \(response)", sourceLocation: sourceLocation)
        case (.response, .failure(let error)):
            Issue.record(error, sourceLocation: sourceLocation)
        }
    }
}

/// A row of a table: the behavior of the server and the expected result.
struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: LoopbackServer.Response
    let expected: Expectation
    var method = HTTPRequest.Method.get
    var options = TransferOptions.limited

    init(
        _ name: String,
        _ answer: LoopbackServer.Response,
        _ expected: Expectation,
        method: HTTPRequest.Method = .get,
        options: TransferOptions = .limited
    ) {
        testDescription = name
        self.answer = answer
        self.expected = expected
        self.method = method
        self.options = options
    }

    /// Whether the process does nothing else, so that its memory usage is that of this transfer.
    private static let isAlone = ProcessInfo.processInfo.environment["BEAGLENET_FAULTS"] != nil
    /// Far more memory than any response of the tables needs, and less than an endless one would use.
    private static let room = 16 << 20

    /// Performs the request and proves that the same transport still works afterwards.
    func run(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        guard Self.isAlone else { return try await perform(sourceLocation) }
        let peak = try #require(
            try await peak(of: { try await perform(sourceLocation) }),
            "the system does not report its peak memory"
        )
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
