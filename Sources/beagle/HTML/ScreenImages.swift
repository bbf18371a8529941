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

    /// Returns the images by the position of their URL in the screen, as a JSON pointer. Each URL is requested once.
    ///
    /// - Throws: Only if the task is cancelled.
    func images(of plan: ScreenPlan) async throws -> [String: Image] {
        var (images, loaded, bytes) = ([String: Image](), [String: Image](), 0)
        // All elements of a list have the pointers of the template. The page shows the first element.
        for reference in plan.references where reference.kind == .image && images[reference.pointer] == nil {
            guard let url = reference.resolvedURL else { continue }
            if loaded[url] == nil, loaded.count < Self.maxCount {
                let image = try await image(url, upTo: ScreenPage.maxImageBytes - bytes)
                if case .data(let data, _) = image { bytes += data.count }
                loaded[url] = image
            }
            images[reference.pointer] = loaded[url]
        }
        return images
    }

    private func image(_ path: String, upTo limit: Int) async throws -> Image {
        guard limit > 0 else { return .missing("the images of the page are too large") }
        do {
            let url = try UrlBuilder(baseUrl: base).url(for: path)
            let response = try await session.start(request(url, limit), for: .init(kind: .image))
            if response.response.status.kind != .successful { return .missing(response.response.statusLine) }
            let data = try await response.body.collect(upTo: limit)
            guard let format = ImageFormat(of: data) else { return .missing("not an image") }
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
