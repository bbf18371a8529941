import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// Images that are looked at before anything of them is written.
extension Session {
    /// The most bytes that are looked at: some formats tell their size late.
    private static let maxHead = 64 << 10
    /// How many bytes tell that they are no image.
    private static let enough = 4 << 10

    /// Returns a response whose body is read up to what tells that it is an image. A part of one, or a status that is no
    /// success, isn't looked at.
    ///
    /// - Throws: `Failure` with 101 if it isn't an image, or why the body cannot be read.
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
            // So that little is looked at twice, however small the chunks.
            due = head.count * 2
        }
        guard ImageFormat(of: head) != nil else { throw Failure.notAnImage(response) }
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
        guard let format = ImageFormat(of: head) else {
            // The brands of AVIF and HEIC may come late.
            return head.count >= enough && head.dropFirst(4).prefix(4) != Data("ftyp".utf8)
        }
        return format == .svg || ImageHeader(of: head) != nil
    }
}

extension Failure {
    fileprivate static func notAnImage(_ response: StreamingResponse) -> Failure {
        let type = response.response.headerFields[.contentType]?.printable ?? "no content type"
        return notAnImage("\(type)", response.response, url: response.url)
    }

    /// - Parameter reason: What the response is instead.
    static func notAnImage(_ reason: String, _ response: HTTPResponse, url: String) -> Failure {
        var failure = Failure(
            exit: ExitCode.notAScreen,
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
