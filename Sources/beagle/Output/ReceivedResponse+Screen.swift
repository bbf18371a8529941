import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

extension ReceivedResponse {
    /// Reads the body as a screen.
    ///
    /// - Parameter showsBody: Whether a failure has the body as output.
    /// - Throws: `Failure` with the exit code 101 if the response isn't a screen.
    func screen(_ vocabulary: ScreenVocabulary = .standard, showsBody: Bool) throws -> ParsedScreen {
        try screen(try document(vocabulary, showsBody: showsBody), showsBody: showsBody)
    }

    /// Returns a document of this response if it is a screen.
    func screen(_ document: ParsedScreen, showsBody: Bool) throws -> ParsedScreen {
        if document.isScreen { return document }
        var failure = notAScreen(showsBody)
        failure.explain(document)
        throw failure
    }

    /// Reads the body as JSON that may be a screen.
    ///
    /// - Throws: `Failure` with the exit code 101 if it isn't JSON.
    func document(_ vocabulary: ScreenVocabulary, showsBody: Bool) throws -> ParsedScreen {
        guard head.status.kind == .successful else { throw notFollowed(showsBody) }
        do throws(NetworkError) {
            return try ParsedScreen(parsing: body, vocabulary: vocabulary)
        } catch {
            var failure = notAScreen(showsBody)
            let type = contentType.isEmpty ? "no content type" : contentType
            failure.message = "the response is not a screen (\(type)): \(error.message)"
            let isHTML = MediaType(contentType)?.essence == "text/html"
            if isHTML || body.looksLikeMarkup {
                failure.message =
                    "the response is not a screen but \(isHTML ? "HTML" : Failure.looksLikeMarkup) (\(type))"
                failure.advice = "check the URL, or use 'beagle raw' to read the page"
            }
            throw failure
        }
    }

    private func notAScreen(_ showsBody: Bool) -> Failure {
        var failure = Failure(exit: ExitCode.invalidContent, code: "not_a_screen", phase: .decode, "")
        failure.url = url
        if showsBody { failure.output = output }
        return failure
    }

    private func notFollowed(_ showsBody: Bool) -> Failure {
        var failure = notAScreen(showsBody)
        failure.message = "the response is not a screen but a redirect that was not followed: \(head.statusLine)"
        failure.advice = head.headerFields.contains(.location) ? "increase --max-redirs" : nil
        return failure
    }
}

extension Data {
    /// Whether a text begins as HTML and XML do.
    var looksLikeMarkup: Bool { first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<") }
}

extension Failure {
    /// The reason for which HTML or XML isn't a screen.
    static let looksLikeMarkup = "looks like HTML or XML, such as an error page"

    /// Says why JSON isn't a screen.
    mutating func explain(_ document: ParsedScreen, _ subject: String = "the response") {
        if let action = document.type {
            message = "\(subject) is not a screen but the action \(ComponentType(action).name)"
        } else {
            message = "\(subject) is JSON but not a screen: its root has no _beagleComponent_"
            advice = "use 'beagle raw' for other responses"
        }
    }
}
