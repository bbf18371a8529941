import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// A place that a screen is read from: a file, standard input, or a URL.
struct ScreenSource {
    /// The argument of the command line.
    let argument: String
    /// The base URL of paths, if one is given.
    let base: String?
    let vocabulary: ScreenVocabulary

    /// Whether the screen is fetched. With a base URL, `/home` is a path of the server.
    var isURL: Bool { argument.contains("://") || (base != nil && argument.hasPrefix("/")) }

    /// Returns the request for the screen.
    func request(_ flags: CommonFlags) throws -> TransferRequest {
        var request = try address(of: argument).build(.fetchComponent)
        flags.apply(to: &request.head)
        request.options = try flags.options()
        return request
    }

    /// Reads or fetches the screen.
    ///
    /// - Throws: `Failure` with the exit code 101 if it isn't a screen.
    func screen(in session: Session) async throws -> (screen: ParsedScreen, response: ReceivedResponse?) {
        guard isURL else { return (try file(), nil) }
        let received = try await session.receive(
            request(session.flags),
            keepsBody: true,
            from: nil,
            for: .init(kind: .component)
        )
        if received.isErrorResponse { throw Failure(received) }
        return (try received.screen(vocabulary, showsBody: false), received)
    }

    private func address(of argument: String) throws -> Address {
        try Address.parse((base.map { ["--base", $0] } ?? []) + ["--", argument])
    }

    /// Returns the loader of the screen's images, or `nil` if its paths have no base URL.
    func images(in session: Session) throws -> ScreenImages? {
        guard isURL || base != nil else { return nil }
        let site = try CrawlSite(address(of: isURL ? argument : "/"))
        return ScreenImages(session: session, origin: site.origin, base: site.base)
    }

    private var name: String { argument == "-" ? "standard input" : argument }

    private func file() throws -> ParsedScreen {
        let contents = try contents()
        var failure = Failure(exit: ExitCode.invalidContent, code: "not_a_screen", phase: .decode, "")
        do throws(NetworkError) {
            let screen = try ParsedScreen(parsing: contents, vocabulary: vocabulary)
            if screen.isScreen { return screen }
            failure.explain(screen, name)
            failure.advice = nil
        } catch {
            failure.message = "\(name) is not a screen: \(error.message)"
            if contents.looksLikeMarkup { failure.message = "\(name) is not a screen but \(Failure.looksLikeMarkup)" }
        }
        throw failure
    }

    /// Returns the contents of the file, up to the maximum size of a screen and one more byte.
    private func contents() throws(NetworkError) -> Data {
        do {
            // `Data(contentsOf:)` can't read pipes.
            let file =
                try argument == "-"
                ? FileHandle.standardInput : FileHandle(forReadingFrom: URL(fileURLWithPath: argument))
            return try file.read(upToCount: ParsedScreen.maxBytes + 1) ?? Data()
        } catch {
            throw .unreadable(argument, advice: advice, underlying: error)
        }
    }

    private var advice: String {
        if base != nil, argument != "-" { return "name a file, or write /\(argument) for a path of the server" }
        let host = argument.prefix { $0 != "/" }
        let isURL = host.contains(":") || (host.contains(".") && !host.hasPrefix(".") && host != argument)
        let sample = isURL ? argument : "HOST:PORT/PATH"
        return "name a file, '-' for standard input, or a URL such as http://\(sample)"
    }
}
