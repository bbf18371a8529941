import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// Loads the images of a screen for a page.
struct ScreenImages {
    /// An image, or the failure.
    enum Image: Sendable {
        /// The bytes and the media type, which is that of the actual format.
        case data(Data, String)
        case missing(String)
    }

    /// The maximum number of images.
    private static let maxCount = 200

    let session: Session
    /// The origin of the screen, which alone receives the header fields and credentials of the command line.
    let origin: Origin
    let base: URL

    /// Returns the images by their URL in the screen. Each URL is requested once.
    ///
    /// - Throws: Only if the task is cancelled.
    func images(of plan: ScreenPlan) async throws -> [String: Image] {
        var (images, bytes) = ([String: Image](), 0)
        for reference in plan.references where reference.kind == .image && reference.obstacle != .otherScheme {
            guard let url = reference.resolvedURL, images[url] == nil, images.count < Self.maxCount else { continue }
            let image = try await image(url, upTo: ScreenPage.maxImageBytes - bytes)
            if case .data(let data, _) = image { bytes += data.count }
            images[url] = image
        }
        return images
    }

    /// The reason that an image has no size.
    struct Missing: Error {
        let reason: String
    }

    /// Returns the size of an image in bytes.
    ///
    /// - Throws: Only if the task is cancelled.
    func size(of path: String) async throws -> Result<Int, Missing> {
        switch try await image(path, upTo: ParsedScreen.maxBytes) {
        case .data(let data, _): .success(data.count)
        case .missing(let reason): .failure(Missing(reason: reason))
        }
    }

    /// Whether a path leads to the same URL as for another screen.
    func isSame(_ path: String, as other: ScreenImages) -> Bool {
        UrlBuilder(baseUrl: base).build(path: path) == UrlBuilder(baseUrl: other.base).build(path: path)
    }

    private func image(_ path: String, upTo limit: Int) async throws -> Image {
        guard limit > 0 else { return .missing("the images of the page are too large") }
        do {
            let url = try UrlBuilder(baseUrl: base).url(for: path)
            let response = try await session.start(request(url, limit), for: .init(kind: .image))
            if response.response.status.kind != .successful { return .missing(response.response.statusLine) }
            let data = try await response.body.collect(upTo: limit)
            guard let format = ImageHeader.Format(of: data) else { return .missing("not an image") }
            return .data(data, format.rawValue)
        } catch {
            try Task.checkCancellation()
            return .missing(Redactor.standard.redact(text: session.flags.failure(for: error).sentence).printable)
        }
    }

    private func request(_ url: URL, _ limit: Int) throws -> TransferRequest {
        var transfer = try HttpRequestBuilder().build(Request(url: url, type: .fetchImage))
        transfer.options = try session.flags.options()
        transfer.options.maxBodyBytes = min(limit, transfer.options.maxBodyBytes ?? limit)
        if Origin(of: transfer.head) == origin {
            session.flags.apply(to: &transfer.head)
            transfer.originScopedFields.formUnion(session.flags.header.compactMap(\.name))
        } else {
            transfer.options.dropCredentials()
        }
        return transfer
    }
}
