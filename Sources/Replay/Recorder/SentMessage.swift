import BeagleNet
import BeagleNetHTTP
import CBeagleNetCurl
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The parts of a sent request that a log needs.
struct SentMessage: Sendable {
    let head: HTTPRequest
    /// The body; `nil` if it is a stream, whose pieces are recorded separately as they are read.
    let body: HTTPBody?
    private let isStreamed: Bool
    /// The state of a file to upload when the request was created.
    let file: FileStamp?
    /// Whether the transport is configured to request a response without content coding.
    private let requestsIdentityCoding: Bool

    init(_ transfer: TransferRequest) {
        head = transfer.head
        requestsIdentityCoding = transfer.options.extras != nil && transfer.options.codings == []
        if case .stream? = transfer.body?.content { isStreamed = true } else { isStreamed = false }
        body = isStreamed ? nil : transfer.body
        if case .file(let path)? = body?.content { file = FileStamp(path) } else { file = nil }
    }

    /// Returns the content coding of a body; for a response only if the transport passes it on undecoded.
    func coding(of side: MessageSide, with response: RawHead?) -> BodyCoding? {
        switch side {
        case .request: BodyCoding(head.headerFields[.contentEncoding])
        case .response: response.flatMap(coding)
        }
    }

    /// Whether the caller decodes the response, not the transport.
    private var callerDecodesResponse: Bool {
        requestsIdentityCoding || [.acceptEncoding, .range].contains(where: head.headerFields.contains)
    }

    private func coding(of response: RawHead) -> BodyCoding? {
        guard response.isEncoded, let coding = BodyCoding(response.head.headerFields.joined(.contentEncoding)) else {
            return nil
        }
        return callerDecodesResponse || !coding.isKnown ? coding : nil
    }

    /// Returns the request as it is recorded.
    ///
    /// - Parameters:
    ///   - metrics: the metrics of the transfer; `nil` before it has ended.
    ///   - sent: the bytes of a streamed body that were read.
    ///   - limit: the maximum number of bytes of a file that are read.
    func logged(_ metrics: TransferMetrics?, sent: Int64, limit: Int) -> LogEntry.Request {
        let version = metrics?.protocolName ?? ""
        let isText = version.hasPrefix("HTTP/1")
        return LogEntry.Request(
            method: head.method.rawValue,
            url: head.urlText,
            httpVersion: version,
            fields: metrics?.requestHead.map { [LogEntry.Field]($0) } ?? [LogEntry.Field](head.headerFields),
            body: loggedBody(metrics, sent: sent, limit: limit),
            headBytes: isText ? metrics?.headBytesSent ?? -1 : -1,
            bodyBytes: metrics?.bytesSent ?? -1
        )
    }

    private func loggedBody(_ metrics: TransferMetrics?, sent: Int64, limit: Int) -> LogEntry.Body? {
        if body == nil, !isStreamed { return nil }
        let mediaType = head.headerFields[.contentType] ?? ""
        if isStreamed { return LogEntry.Body(.omitted("not sent"), mediaType: mediaType, size: sent) }
        switch body?.content {
        case nil, .stream: return nil
        case .data(let data): return LogEntry.Body(.data(data), mediaType: mediaType)
        case .file(let path):
            guard metrics != nil else { return LogEntry.Body(.omitted("not sent yet"), mediaType: mediaType) }
            var body = LogEntry.Body(fileAt: path, as: file, upTo: limit, mediaType: mediaType)
            if body.size < 0, let metrics { body.size = metrics.bytesSent }
            return body
        }
    }
}

/// The state of a file, used to detect changes.
struct FileStamp: Sendable, Equatable {
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Reads the state of a file; returns `nil` if there is no regular file at the path.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        size = Int64(status.st_size)
        #if canImport(Darwin)
            let written = status.st_mtimespec
        #else
            let written = status.st_mtim
        #endif
        (seconds, nanoseconds) = (Int(written.tv_sec), Int(written.tv_nsec))
    }
}

extension LogEntry.Body {
    /// Reads a file up to a limit, unless it has changed since the stamp was taken.
    init(fileAt path: String, as stamp: FileStamp?, upTo limit: Int, mediaType: String) {
        guard let stamp, stamp == FileStamp(path) else {
            self.init(.omitted("the file has changed"), mediaType: mediaType)
            return
        }
        let reader = FileReader(path: path)
        var data = Data()
        do throws(NetworkError) {
            let size = try OpenFile(reading: path).size()
            while data.count <= limit, let piece = try reader.next() { data += piece }
            self.init(.data(data), mediaType: mediaType, size: size)
        } catch {
            self.init(.omitted("the file cannot be read"), mediaType: mediaType)
        }
    }
}

extension [LogEntry.Field] {
    fileprivate init(_ head: TransferMetrics.WireHead) {
        self = []
        reserveCapacity(8)
        head.forEachField { append(LogEntry.Field($0, $1)) }
    }
}
