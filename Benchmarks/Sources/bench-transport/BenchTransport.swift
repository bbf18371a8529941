import BeagleNet
import BeagleNetCurl
import Load

/// `CurlTransport` alone: what every request of the whole client pays at least.
@main
struct BenchTransport {
    static func main() async throws {
        let arguments = Arguments()
        let transport = CurlTransport()
        let request = try makeRequest(arguments)
        let isStreamed = arguments.shape == .big
        await measure("transport", arguments) {
            let response = try await transport.perform(request)
            guard response.status == .ok else { throw UnexpectedStatus(status: response.status.code) }
            guard isStreamed else { return response.body.data?.count ?? 0 }
            var count = 0
            for try await chunk in response.body { count += chunk.count }
            return count
        }
    }

    private static func makeRequest(_ arguments: Arguments) throws -> TransferRequest {
        guard let url = URL(string: arguments.url), let scheme = url.scheme, let host = url.host else {
            throw URLError()
        }
        var head = HTTPRequest(method: .get, scheme: scheme, authority: "\(host):\(url.port ?? 80)", path: url.path)
        head.headerFields[.accept] = "application/json"
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
