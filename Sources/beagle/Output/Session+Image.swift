import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// Checks that a response is an image before any of it is written.
extension Session {
    /// The maximum number of bytes that are examined. In some formats, the dimensions come late.
    private static let maxHead = 64 << 10
    /// The number of bytes after which an unknown format is rejected.
    private static let enough = 4 << 10

    /// Returns a response after reading enough of its body to check that it is an image.
    ///
    /// Partial responses and responses without a success status aren't checked.
    ///
    /// - Throws: `Failure` with exit code 101 if it isn't an image, or the error from reading the body.
    func checked(_ response: StreamingResponse, to request: TransferRequest) async throws -> StreamingResponse {
        imageHead.withLock { $0 = nil }
        let isPart = response.response.status == .partialContent && request.head.headerFields.contains(.range)
        guard response.response.status.kind == .successful, !isPart else { return response }
        let read = response.body.makeAsyncIterator().reader
        var (head, due) = (Data(), 0)
        while head.count < Self.maxHead, let chunk = try await read() {
            head += chunk
            if head.count < due { continue }
            if Self.isSettled(head) { break }
            // Doubled, so that small chunks don't cause many examinations of the same bytes.
            due = head.count * 2
        }
        guard ImageHeader.Format(of: head) != nil else { throw Failure.notAnImage(response) }
        imageHead.withLock { [head] in $0 = head }
        var response = response
        let first = Lock<Data?>(head)
        let rest: HTTPBody.Reader = {
            if let head = first.withLock({ $0.take() }) { return head }
            return try await read()
        }
        response.body = HTTPBody(.stream(length: response.body.length, isReplayable: false) { rest })
        return response
    }

    private static func isSettled(_ head: Data) -> Bool {
        guard let format = ImageHeader.Format(of: head) else {
            // The brands of AVIF and HEIC may come late.
            return head.count >= enough && head.dropFirst(4).prefix(4) != Data("ftyp".utf8)
        }
        return format == .svg || ImageHeader(of: head) != nil
    }
}

extension Failure {
    fileprivate static func notAnImage(_ response: StreamingResponse) -> Failure {
        let type = response.response.headerFields[single: .contentType]?.printable ?? "no content type"
        return notAnImage("\(type)", response.response, url: response.url)
    }

    /// - Parameter reason: A description of the actual response.
    static func notAnImage(_ reason: String, _ response: HTTPResponse, url: String) -> Failure {
        var failure = Failure(
            exit: ExitCode.invalidContent,
            code: "not_an_image",
            phase: .decode,
            "the response is not an image (\(reason))",
            advice: "use 'beagle raw' for other responses"
        )
        failure.url = url
        failure.details["status"] = .integer(Int64(response.status.code))
        return failure
    }
}
