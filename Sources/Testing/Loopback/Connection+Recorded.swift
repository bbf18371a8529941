import BeagleNet
import BeagleNetHTTP
import BeagleNetReplay

extension LoopbackServer.Request {
    /// The base URL from the client's point of view.
    fileprivate var base: String { "http://\(self["Host"] ?? "127.0.0.1")" }

    /// The request in the form that match rules compare.
    var logged: LogEntry.Request {
        LogEntry.Request(
            method: method,
            url: target.hasPrefix("/") ? base + target : target,
            fields: fields.map { LogEntry.Field($0.name, $0.value) },
            body: body.isEmpty ? nil : LogEntry.Body(.data(body), mediaType: self["Content-Type"] ?? "")
        )
    }

    /// Returns whether the client accepts a content coding (RFC 9110, 12.5.3).
    fileprivate func accepts(_ coding: String) -> Bool {
        values(of: "Accept-Encoding").joined(separator: ",").lowercased().split(separator: ",").contains { item in
            let parts = item.split(separator: ";").map { $0.filter { $0 != " " } }
            return parts.first == coding && !parts.dropFirst().contains { ["q=0", "q=0.0", "q=0.00"].contains($0) }
        }
    }
}

extension Connection {
    /// Replays a recorded response, or returns `false` if the connection must be closed.
    mutating func play(_ answers: RecordedResponses, to request: LoopbackServer.Request) -> Bool {
        let answer: RecordedResponse
        do throws(NetworkError) {
            let body = request.body.isEmpty ? nil : request.body
            answer = try answers.response(to: request.logged, body, at: request.base)
        } catch {
            return sendNotInRecording(error, request.method)
        }
        guard delay(answer.wait, answers) else { return false }
        if let failure = answer.failure { return failure.kind == .timeout ? play(.stall, method: nil) : false }
        for head in answer.interim where request.version == "HTTP/1.1" {
            guard send(Self.head(head.status, "", head.fields)) else { return false }
        }
        return send(answer, to: request)
    }

    private func delay(_ wait: Duration, _ answers: RecordedResponses) -> Bool {
        wait == .zero || outcome { try await answers.wait(wait) } != nil
    }

    /// Responds to a request that isn't in the recording.
    func sendNotInRecording(_ error: NetworkError, _ method: String) -> Bool {
        let text = Data("\(error)\n".utf8)
        let fields = [
            LogEntry.Field("Content-Type", "text/plain; charset=utf-8"),
            LogEntry.Field("Content-Length", "\(text.count)"),
        ]
        return send(Self.head(501, "Not Implemented", fields) + (method == "HEAD" ? Data() : text))
    }

    static func head(_ status: Int, _ reason: String, _ fields: [LogEntry.Field]) -> Data {
        let words = reason.filter { $0.isASCII && !$0.isNewline }
        let lines = ["HTTP/1.1 \(status) \(words)"] + fields.map { "\($0.name): \($0.value)" }
        return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}

// MARK: - The body

extension Connection {
    /// The framing of a body on the wire.
    private enum Framing {
        case length, chunks, close
    }

    private mutating func send(_ answer: RecordedResponse, to request: LoopbackServer.Request) -> Bool {
        var (fields, framing) = (answer.fields, Framing.length)
        let coding = answer.coding.flatMap { coding in
            ["gzip", "x-gzip", "deflate"].contains(coding) && request.accepts(coding) ? coding : nil
        }
        if answer.body != nil {
            if let coding { fields.append(LogEntry.Field("Content-Encoding", coding)) }
            switch (coding == nil ? answer.length : nil, request.version) {
            case (let length?, _): fields.append(LogEntry.Field("Content-Length", "\(length)"))
            case (nil, "HTTP/1.1"):
                framing = .chunks
                fields.append(LogEntry.Field("Transfer-Encoding", "chunked"))
            case (nil, _):
                framing = .close
                fields.append(LogEntry.Field("Connection", "close"))
            }
        }
        guard send(Self.head(answer.status, answer.statusText, fields)) else { return false }
        guard let body = answer.body else { return true }
        guard send(body, coding, framing) else { return false }
        if framing == .chunks {
            let trailers = answer.trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
            guard send(Data("0\r\n\(trailers)\r\n".utf8)) else { return false }
        }
        return framing != .close
    }

    /// Sends the chunks of a body with their delays, or returns `false` if not all can be sent.
    private func send(_ body: HTTPBody, _ coding: String?, _ framing: Framing) -> Bool {
        do {
            let deflater = try coding.map { coding throws in try Deflater(isGzip: coding != "deflate") }
            let pieces = ChunkReader(body)
            while let piece = outcome(of: { try await pieces.next() }) {
                let isLast = piece == nil
                let bytes = try deflater.map { try $0.output(of: piece ?? Data(), isLast: isLast) } ?? piece ?? Data()
                let size = framing == .chunks ? Data("\(String(bytes.count, radix: 16))\r\n".utf8) : Data()
                let end = framing == .chunks ? Data("\r\n".utf8) : Data()
                if !bytes.isEmpty, !send(size + bytes + end) { return false }
                if isLast { return true }
            }
        } catch {
            // The client sees that the connection is closed.
        }
        return false
    }
}

/// The chunks of a body, in sequence.
private final class ChunkReader: Sendable {
    private let read: HTTPBody.Reader

    init(_ body: HTTPBody) {
        if case .stream(_, _, let open) = body.content { read = open() } else { read = { nil } }
    }

    func next() async throws -> Data? { try await read() }
}

extension Deflater {
    fileprivate func output(of data: Data, isLast: Bool) throws -> Data {
        var output = Data()
        try data.withUnsafeBytes { bytes in
            try write(bytes, isLast: isLast) { piece throws(NetworkError) in output.append(contentsOf: piece) }
        }
        return output
    }
}
