import ArgumentParser
import BeagleNetHTTP
import Foundation

/// Where to ask: a URL, or a path and the URL that it is put onto.
struct Address: ParsableArguments {
    @Argument(help: "A URL, or a path such as /home with --base.")
    var url: String

    @Option(name: .long, help: "What a path is put onto: http://HOST:PORT.")
    var base: String?

    /// The URL as it was written, which the builder puts onto `baseURL`.
    func target() throws(NetworkError) -> URL {
        guard base != nil || url.contains("://") else { throw schemeless }
        guard let target = URL(string: url) else {
            throw NetworkError(.badURL, during: .build, "\(url) is no URL", advice: "write http://HOST:PORT/PATH")
        }
        return target
    }

    /// `base`, checked.
    func baseURL() throws(NetworkError) -> URL? {
        guard let base else { return nil }
        guard base.contains("://"), let url = URL(string: base) else {
            let advice = base.contains("://") ? nil : "write --base http://\(base)"
            throw NetworkError(.badURL, during: .build, "the base \(base) is no URL", advice: advice)
        }
        return url
    }

    private var schemeless: NetworkError {
        let (message, advice) =
            url.hasPrefix("/")
            ? ("\(url) is a path without a host", "add --base http://HOST:PORT")
            : ("\(url) has no scheme", "write http://\(url)")
        return NetworkError(.badURL, during: .build, message, advice: advice)
    }
}
