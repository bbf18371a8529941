import ArgumentParser
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// Where to ask: a URL, or a path and the URL that it is put onto.
struct Address: ParsableArguments {
    @Argument(help: "A URL, or a path such as /home with --base.")
    var url: String

    @Option(name: .long, help: "What a path is put onto: http://HOST:PORT.")
    var base: String?

    /// The message of a request to this address.
    func build(_ type: Request.RequestType) throws(NetworkError) -> TransferRequest {
        try HttpRequestBuilder().build(Request(url: try target(), type: type))
    }

    private func target() throws(NetworkError) -> URL {
        if url.contains("://") { return try UrlBuilder().url(for: url) }
        guard let base else {
            throw url.hasPrefix("/")
                ? .badAddress("\(url) is a path without a host", advice: "add --base http://HOST:PORT")
                : .badAddress("\(url) has no scheme", advice: "write http://\(url)")
        }
        guard url.hasPrefix("/") else {
            throw .badAddress("\(url) is neither a URL nor a path", advice: "write /\(url)")
        }
        guard base.contains("://") else {
            throw .badAddress("the base \(base) has no scheme", advice: "write --base http://\(base)")
        }
        return try UrlBuilder(baseUrl: UrlBuilder().url(for: base)).url(for: url)
    }
}

extension NetworkError {
    fileprivate static func badAddress(_ message: String, advice: String) -> NetworkError {
        NetworkError(.badURL, during: .build, message, advice: advice)
    }
}
