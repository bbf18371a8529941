import BeagleNet
import BeagleNetCurl
import Dispatch
import Load

/// `CurlTransport` alone, the least cost of a request of the whole client. Tasks of Swift's pool await the answers. In
/// variant `executor`, the tasks run on the transport's thread. Variant `callback` uses completions.
///
/// `main` isn't `async`, because valgrind can't run a program whose first thread ends before the process.
@main
struct BenchTransport {
    static func main() throws {
        let arguments = Arguments()
        let request = try makeRequest(arguments, arguments.url)
        let parked = try makeParked(arguments)
        let isOver = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await measure(arguments, request, parked)
            } catch {
                printError("\(error)")
            }
            isOver.signal()
        }
        isOver.wait()
    }

    private static func measure(
        _ arguments: Arguments,
        _ request: TransferRequest,
        _ parked: TransferRequest?
    ) async throws {
        let transport = CurlTransport()
        switch arguments.variant {
        case "callback":
            try await Load.measure("transport-callback", arguments) { completion in
                transport.perform(request) { result in
                    completion(Result { try size(of: result.get()) })
                }
            }
        case "executor":
            try await withTaskExecutorPreference(transport) {
                try await Load.measure("transport-executor", arguments) { try await ask(transport, request) }
            }
        default:
            let park = { @Sendable () async throws -> any Sendable in
                guard let parked else { throw URLError() }
                return try await transport.perform(parked)
            }
            try await Load.measure("transport", arguments, park: park) { try await ask(transport, request) }
        }
    }

    private static func ask(_ transport: CurlTransport, _ request: TransferRequest) async throws -> Int {
        let response = try await transport.perform(request)
        guard request.delivery == .stream else { return try size(of: response) }
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        return count
    }

    private static func size(of response: TransferResponse) throws -> Int {
        guard response.status == .ok else { throw UnexpectedStatus(status: response.status.code) }
        return response.body.data?.count ?? 0
    }

    /// A stream that stays silent.
    private static func makeParked(_ arguments: Arguments) throws -> TransferRequest? {
        guard arguments.shape == .parked else { return nil }
        var request = try makeRequest(arguments, arguments.parkedURL)
        request.head.headerFields[.accept] = "text/event-stream"
        request.delivery = .stream
        request.options.timeouts.idle = nil
        return request
    }

    private static func makeRequest(_ arguments: Arguments, _ url: String) throws -> TransferRequest {
        guard let url = URL(string: url), let scheme = url.scheme, let host = url.host else {
            throw URLError()
        }
        var head = HTTPRequest(method: .get, scheme: scheme, authority: "\(host):\(url.port ?? 80)", path: url.path)
        // The fields that a client sends.
        head.headerFields[.accept] = "application/json"
        head.headerFields[HTTPField.Name("beagle-platform")!] = "IOS"
        head.headerFields[.userAgent] = "BeagleNet/\(beagleNetVersion)"
        var options = TransferOptions(version: arguments.isHTTP2 ? .automatic : .http1)
        if let file = arguments.authorities { options.trust = .file(path: file) }
        if arguments.shape == .big { options.maxBodyBytes = nil }
        return TransferRequest(head, options: options, delivery: arguments.shape == .big ? .stream : .collect)
    }
}

private struct URLError: Error {}

private struct UnexpectedStatus: Error {
    let status: Int
}
