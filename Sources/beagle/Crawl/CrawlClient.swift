import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// Sends the requests of a crawl.
struct CrawlClient: Sendable {
    let session: Session
    /// The origin outside of which no request is sent, not even after a redirect.
    let origin: Origin
    let vocabulary: ScreenVocabulary

    /// Requests a target.
    ///
    /// - Throws: Only if the crawl is cancelled; any other failure is a part of the response.
    func response(to target: CrawlTarget) async throws -> CrawlResponse {
        let start = ContinuousClock.now
        var response = CrawlResponse(duration: .zero, content: .success(.action))
        do {
            let request = try request(for: target)
            let subject = Session.Subject(kind: target.kind == .image ? .image : .component)
            let received = try await session.take(session.start(request, for: subject), keepsBody: true)
            response.bytes = received.count
            response.content = .success(try content(of: received, to: target))
        } catch {
            try Task.checkCancellation()
            var failure = session.flags.failure(for: error)
            // It advises to use another command.
            if failure.exit == ExitCode.invalidContent { failure.advice = nil }
            if failure.code == NetworkError.Kind.tooLarge.rawValue { failure.advice = try advice(forLarge: target) }
            response.content = .failure(failure)
        }
        response.duration = start.duration(to: .now)
        return response
    }

    private func request(for target: CrawlTarget) throws -> TransferRequest {
        let data = target.headers.isEmpty ? nil : HttpAdditionalData(headers: target.headers)
        let request = Request(
            url: try UrlBuilder().url(for: target.url),
            type: target.kind == .image ? .fetchImage : .fetchComponent,
            additionalData: data
        )
        var transfer = try HttpRequestBuilder().build(request)
        session.flags.apply(to: &transfer.head)
        transfer.options = try session.flags.options()
        transfer.options.maxBodyBytes = try maxBytes(of: target)
        transfer.options.redirects = transfer.options.redirects.deciding { [origin] proposal in
            Origin(of: proposal.next) == origin ? .follow : .returnRedirect
        }
        return transfer
    }

    /// Returns the maximum size of a response, in bytes: that of --max-filesize, and for screens also that of a screen.
    private func maxBytes(of target: CrawlTarget) throws -> Int? {
        let limit = try session.flags.options().maxBodyBytes
        return target.isImage ? limit : min(limit ?? .max, ParsedScreen.maxBytes)
    }

    /// Returns the advice for a response that is larger than the limit. -o isn't an alternative to a greater limit,
    /// because it names the file of the report.
    private func advice(forLarge target: CrawlTarget) throws -> String {
        guard !target.isImage, try maxBytes(of: target) == ParsedScreen.maxBytes else {
            return "increase --max-filesize"
        }
        return "divide the screen, for example with lazy components"
    }

    private func content(of received: ReceivedResponse, to target: CrawlTarget) throws -> CrawlResponse.Content {
        if received.isErrorResponse { throw Failure(received) }
        if received.head.status.kind == .redirection {
            return .redirect(received.head.headerFields[single: .location])
        }
        guard target.kind == .image else {
            let document = try received.document(vocabulary, showsBody: false)
            let isAction = !document.isScreen && document.type != nil
            return isAction && target.kind == .form ? .action : .screen(try received.screen(document, showsBody: false))
        }
        guard let format = ImageHeader.Format(of: received.body) else {
            throw Failure.notAnImage(received.head.statusLine, received.head, url: received.url)
        }
        let header = ImageHeader(of: received.body)
        if header == nil, format != .svg {
            throw Failure.notAnImage("\(format.rawValue) without a size", received.head, url: received.url)
        }
        return .image(format, header)
    }
}
