import ArgumentParser
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// The address of a request: a URL, or a path and a base URL.
struct Address: ParsableArguments {
    @Argument(help: "URL to request, or a path such as /home if --base is given.")
    var url: String

    @Option(name: .long, help: "Base URL for paths, such as http://HOST:PORT.")
    var base: String?

    /// Builds a request to this address.
    func build(
        _ type: Request.RequestType,
        _ data: HttpAdditionalData.HttpData? = nil
    ) throws(NetworkError) -> TransferRequest {
        let additionalData = data.map { HttpAdditionalData(httpData: $0) }
        return try HttpRequestBuilder().build(Request(url: try target(), type: type, additionalData: additionalData))
    }

    /// Returns the URL. Error messages show it without secrets.
    func target() throws(NetworkError) -> URL {
        let shown = Redactor().redact(argument: url)
        guard !url.isEmpty else { throw .badAddress("the URL is empty", advice: "write http://HOST:PORT/PATH") }
        if url.contains("://") { return try UrlBuilder().url(for: url) }
        guard let base else {
            var isDirectory: ObjCBool = false
            if FileManager.default.fileExists(atPath: url, isDirectory: &isDirectory), !isDirectory.boolValue {
                throw .badAddress("\(shown) is a file, not a URL", advice: "use 'beagle plan' for the screen in a file")
            }
            throw url.hasPrefix("/")
                ? .badAddress("\(shown) is a path without a host", advice: "add --base http://HOST:PORT")
                : .badAddress("\(shown) has no scheme", advice: "write http://\(shown)")
        }
        guard url.hasPrefix("/") else {
            throw .badAddress("\(shown) is neither a URL nor a path", advice: "write /\(shown)")
        }
        guard !base.isEmpty else { throw .badAddress("the base is empty", advice: "write --base http://HOST:PORT") }
        guard base.contains("://") else {
            let shown = Redactor().redact(argument: base)
            throw .badAddress("the base \(shown) has no scheme", advice: "write --base http://\(shown)")
        }
        return try UrlBuilder(baseUrl: UrlBuilder().url(for: base)).url(for: url)
    }
}

extension NetworkError {
    fileprivate static func badAddress(_ message: String, advice: String) -> NetworkError {
        NetworkError(.badURL, during: .build, message, advice: advice)
    }
}
