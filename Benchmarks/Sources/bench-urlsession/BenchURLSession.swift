import Foundation
import Load

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `URLSession`. On Linux it trusts the system's authorities only, so `run` lays the test's over them.
@main
struct BenchURLSession {
    static func main() async throws {
        let arguments = Arguments()
        guard let url = URL(string: arguments.url) else { throw URLError(.badURL) }
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = max(arguments.tasks, 6)
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        let counter = ByteCounter()
        let isStreamed = arguments.shape == .big
        let session = URLSession(
            configuration: configuration,
            delegate: isStreamed ? counter : nil,
            delegateQueue: nil
        )
        try await measure("urlsession", arguments) {
            if isStreamed { return try await counter.count(url, in: session) }
            var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 60)
            request.setValue("application/json", forHTTPHeaderField: "accept")
            let (data, response) = try await session.data(for: request)
            guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
            return data.count
        }
    }
}
