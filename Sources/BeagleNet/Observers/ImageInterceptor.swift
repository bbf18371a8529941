import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An interceptor that rejects images whose header declares more pixels than allowed.
///
/// An image of 70 bytes can declare so many that decoding it crashes the app.
///
/// ```swift
/// dependencies.interceptors.replace(with: ImageInterceptor(maxPixels: 200_000_000))
/// ```
///
/// It checks the responses of `.image` operations and downloads to a file, whether they come from the network, a store
/// or a recording. Data that `ImageHeader` doesn't recognize as an image passes, because an app may have its own
/// formats. So does a JPEG that declares its height after its pixels.
///
/// A rejected stored image is requested again, unless the operation reads only the store. If it would be emitted before
/// a newer response, or replace one, it is discarded. A rejected response isn't stored and doesn't remove the stored
/// one.
///
/// The head of a streamed image is held back until it declares the size, or until 64 KiB have arrived; an image that
/// declares its size later passes. GIF, TIFF, icons, AVIF and HEIC are always held back that long, because a larger
/// size may follow.
///
/// It doesn't check responses of a client without a pipeline, such as a `StubClient`, bodies in errors for statuses
/// outside 200...299, or the response to a range request (206).
public struct ImageInterceptor: RequestObserver {
    /// The interceptor's place: `.image`, above the cache.
    ///
    /// A store may contain images from before the limit was set or changed, and an image that a later interceptor
    /// decrypts is checked as the app receives it.
    public var place: Pipeline.Place? { .image }
    /// The maximum number of pixels, width times height; `nil` for no limit.
    public let maxPixels: Int?

    /// Creates a limit on the number of pixels.
    ///
    /// - Parameter maxPixels: The maximum number of pixels, width times height, at least 0; `nil` for no limit. 100
    ///   million by default, which is more than most phone cameras produce and takes 400 MB when decoded.
    public init(maxPixels: Int? = 100_000_000) {
        self.maxPixels = maxPixels
    }

    /// Returns `true` for images and downloads to a file, if there is a limit.
    public func applies(to operation: NetworkOperation) -> Bool { maxPixels != nil && operation.mayBeImage }

    /// Observes the image.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        operation.imageLimit = self
        return ImageCheck(limit: self, operation: operation)
    }

    /// Returns the error for a rejected image; `nil` if it is allowed.
    ///
    /// Never inlined, because it would enlarge the frame of every operation.
    @inline(never)
    func refusal(of result: NetworkOperation.Result, to operation: NetworkOperation) -> NetworkError? {
        switch result.content {
        case .response(let response):
            if isPart(response.status, operation) { return nil }
            var refusal = refusal(of: response.data, operation.transfer.head, response.response, response.url)
            refusal?.metrics = response.metrics
            return refusal
        case .stream(let stream):
            if isPart(stream.response.status, operation) { return nil }
            return stream.body.data.flatMap { refusal(of: $0, operation.transfer.head, stream.response, stream.url) }
        case .progress, .connection: return nil
        }
    }

    /// Whether the response is a requested part, which may begin anywhere in the image.
    private func isPart(_ status: HTTPResponse.Status, _ operation: NetworkOperation) -> Bool {
        status == .partialContent && operation.transfer.head.headerFields[.range] != nil
    }

    private func refusal(
        of image: Data,
        _ request: HTTPRequest,
        _ response: @autoclosure () -> HTTPResponse,
        _ url: String
    ) -> NetworkError? {
        guard let maxPixels, let header = ImageHeader(of: image), header.pixels > maxPixels else { return nil }
        var refusal = NetworkError(
            .tooLarge,
            during: .response,
            "the image (\(header.format)) declares \(header.width) x \(header.height) pixels; the limit is \(maxPixels)",
            advice: "increase ImageInterceptor(maxPixels:) if you expect images of this size"
        )
        (refusal.request, refusal.response, refusal.url) = (request, response(), url)
        return refusal
    }

    /// Returns the same result.
    ///
    /// If its body is still to be read, the head is checked when it arrives.
    @inline(never)
    fileprivate func checkingHead(_ result: NetworkOperation.Result, _ operation: NetworkOperation)
        -> NetworkOperation.Result
    {
        guard case .stream(var stream) = result.content, stream.body.data == nil,
            !isPart(stream.response.status, operation)
        else { return result }
        let (body, request, response, url) = (stream.body, operation.transfer.head, stream.response, stream.url)
        // A rejected read releases the body, which ends the transfer. Later reads are rejected, too.
        let source = Lock<Result<HTTPBody, NetworkError>>(.success(body))
        let content = HTTPBody.Content.stream(length: body.length, isReplayable: body.isReplayable) {
            let image = StreamedImage(source) { refusal(of: $0, request, response, url) }
            return { try await image.next() }
        }
        stream.body = HTTPBody(content)
        var result = result
        result.content = .stream(stream)
        return result
    }
}

/// The check of one operation's images.
private final class ImageCheck: RequestObservation {
    private let limit: ImageInterceptor
    private let operation: NetworkOperation

    init(limit: ImageInterceptor, operation: NetworkOperation) {
        self.limit = limit
        self.operation = operation
    }

    func willEmit(_ result: NetworkOperation.Result) -> NetworkOperation.Result? {
        limit.refusal(of: result, to: operation) == nil ? result : nil
    }

    /// Whether a stored image is too large, so that it must be requested again.
    func mustWait(after outcome: NetworkOperation.Outcome) -> Bool {
        guard case .success(let result) = outcome, result.source == .cache, !result.isStale,
            operation.policy != .cacheOnly
        else { return false }
        return limit.refusal(of: result, to: operation) != nil
    }

    nonisolated(nonsending) func resume(
        after outcome: NetworkOperation.Outcome,
        next: Interceptor.Next,
        emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var again = operation
        again.policy = .networkOnly
        let result = try await next(again) { if let result = self.willEmit($0) { emit(result) } }
        return try checked(result)
    }

    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        guard case .success(let result) = outcome else { return }
        do throws(NetworkError) {
            outcome = .success(try checked(result))
        } catch {
            outcome = .failure(error)
        }
    }

    private func checked(_ result: NetworkOperation.Result) throws(NetworkError) -> NetworkOperation.Result {
        if let refusal = limit.refusal(of: result, to: operation) { throw refusal }
        return limit.checkingHead(result, operation)
    }
}

extension NetworkOperation {
    private enum ImageLimitKey: ContextKey {
        static let defaultValue: ImageInterceptor? = nil
    }

    /// The limit that applies to the operation; `nil` for no limit.
    fileprivate var imageLimit: ImageInterceptor? {
        get { context[ImageLimitKey.self] }
        set { context[ImageLimitKey.self] = newValue }
    }

    /// Whether the limit rejects an image.
    func refuses(_ result: Result) -> Bool { mayBeImage && imageLimit?.refusal(of: result, to: self) != nil }

    /// Whether a limit on images applies to the response.
    fileprivate var mayBeImage: Bool { kind == .image || transfer.options.extras?.limitsImages == true }
}
