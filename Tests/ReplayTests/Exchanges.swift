import BeagleNet
import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Recorded entries and requests for tests of playback.
enum Exchanges {
    static let base = "https://api.example.com"

    /// An entry whose response has this text.
    static func entry(
        _ method: String = "GET",
        _ url: String,
        fields: [LogEntry.Field] = [],
        body: LogEntry.Body? = nil,
        status: Int = 200,
        type: String = "text/plain",
        answer: String = "",
        answerFields: [LogEntry.Field] = [],
        at seconds: Double = 0,
        timings: LogEntry.Timings = LogEntry.Timings(),
        id: String = ""
    ) -> LogEntry {
        LogEntry(
            id: id,
            started: Date(timeIntervalSince1970: 1_000 + seconds),
            request: LogEntry.Request(method: method, url: whole(url), fields: fields, body: body),
            response: LogEntry.Response(
                status: status,
                fields: [LogEntry.Field("Content-Type", type)] + answerFields,
                body: LogEntry.Body(.data(Data(answer.utf8)), mediaType: type)
            ),
            timings: timings
        )
    }

    static func whole(_ url: String) -> String { url.hasPrefix("/") ? base + url : url }

    static func json(_ text: String) -> LogEntry.Body {
        LogEntry.Body(.data(Data(text.utf8)), mediaType: "application/json")
    }

    static func form(_ text: String) -> LogEntry.Body {
        LogEntry.Body(.data(Data(text.utf8)), mediaType: "application/x-www-form-urlencoded")
    }

    /// A request as the pipeline passes it to a transport.
    static func message(
        _ method: String = "GET",
        _ url: String,
        _ fields: HTTPFields = [:],
        body: LogEntry.Body? = nil
    ) -> TransferRequest {
        let parts = whole(url).split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let slash = parts[2].firstIndex(of: "/") ?? parts[2].endIndex
        var head = HTTPRequest(
            method: HTTPRequest.Method(rawValue: method) ?? .get,
            scheme: String(parts[0].dropLast()),
            authority: String(parts[2][..<slash]),
            path: String(parts[2][slash...]),
            headerFields: fields
        )
        guard let body, case .data(let data) = body.content else { return TransferRequest(head) }
        head.headerFields[.contentType] = body.mediaType
        return TransferRequest(head, body: HTTPBody(data))
    }
}

extension ReplayTransport {
    /// The text of the response, or the kind of the error.
    func text(_ message: TransferRequest) async -> String {
        do throws(NetworkError) {
            let response = try await perform(message)
            return String(decoding: try await response.body.collect(), as: UTF8.self)
        } catch {
            return error.kind.rawValue
        }
    }
}
