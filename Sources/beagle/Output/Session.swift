import BeagleNetCurl
import BeagleNetHTTP
import Foundation

/// One run of a command: sends its request, shows how it goes, and remembers what `--json` tells of it.
final class Session: Sendable {
    let console: Console
    private let flags: CommonFlags
    private let transport = CurlTransport()
    private let start = ContinuousClock.now
    private let metrics = Lock<TransferMetrics?>(nil)

    init(_ flags: CommonFlags) {
        self.flags = flags
        console = Console(flags.color)
    }

    /// Sends the request and receives the whole response; a body that `-o` names a file for goes there, unless the
    /// status is an error.
    ///
    /// - Parameter keepsBody: whether a body that goes to a file is kept in memory as well.
    func receive(_ request: TransferRequest, keepsBody: Bool) async throws -> ReceivedResponse {
        var request = request
        request.delivery = .stream
        if console.hasTerminal {
            let bar = ProgressBar(on: console)
            request.onProgress = { bar.show($0) }
        }
        defer { console.showBar("") }
        if flags.verbose { note(request.head) }
        let response: TransferResponse
        do throws(NetworkError) {
            response = try await transport.perform(request)
        } catch {
            record(error.metrics)
            throw error
        }
        record(response.metrics)
        let received = try await take(response, keepsBody: keepsBody)
        if flags.verbose { note(received) }
        return received
    }

    private func take(_ response: TransferResponse, keepsBody: Bool) async throws -> ReceivedResponse {
        let path = flags.output.flatMap { $0 == "-" || response.head.status.code >= 400 ? nil : $0 }
        var body = Data()
        var count = 0
        if let path {
            try await save(response.body, to: path) { chunk in
                count += chunk.count
                if keepsBody { body += chunk }
            }
        } else {
            // The transport has seen to the limit.
            body = try await response.body.collect(upTo: .max)
            count = body.count
        }
        return ReceivedResponse(
            head: response.head,
            url: response.url,
            protocolName: response.metrics.protocolName,
            body: body,
            file: path,
            count: count
        )
    }

    private func save(_ body: HTTPBody, to path: String, onChunk: (Data) -> Void) async throws {
        let file = try FileSink(path: path, mayWait: true)
        do {
            try await file.write(contentsOf: body, onChunk: onChunk)
        } catch {
            let received = byteCount(file.position)
            let end = file.isUndone ? "is as it was; the \(received) received are removed" : "got \(received) of it"
            console.note("beagle: \(path) \(end)")
            throw error
        }
    }

    // MARK: - What is told of it

    private func record(_ new: TransferMetrics?) {
        metrics.withLock { $0 = new }
    }

    /// `timing` of the tool's `--json`, in milliseconds: marks from the start of the last hop, and the whole run.
    var timing: JSONValue {
        let metrics = metrics.withLock { $0 } ?? TransferMetrics()
        return [
            "dnsMs": .number(metrics.nameLookup.milliseconds),
            "connectMs": .number(metrics.connect.milliseconds),
            "tlsMs": .number(metrics.tlsHandshake.milliseconds),
            "firstByteMs": .number(metrics.firstByte.milliseconds),
            "totalMs": .number(start.duration(to: .now).milliseconds),
        ]
    }

    private func note(_ head: HTTPRequest) {
        console.note(console.styledNote("> \(head.method.rawValue) \(Redactor().redact(url: head.urlText))", .bold))
        for (name, value) in Redactor().redact(head.headerFields) { console.note("> \(name): \(value)") }
    }

    private func note(_ response: ReceivedResponse) {
        console.note(console.styledNote("< \(response.protocolName) \(response.statusLine)", .bold))
        for (name, value) in Redactor().redact(response.head.headerFields) {
            console.note("< \(name): \(value)".printable)
        }
        let metrics = metrics.withLock { $0 } ?? TransferMetrics()
        let phases = [
            ("dns", metrics.nameLookup), ("connect", metrics.connect), ("tls", metrics.tlsHandshake),
            ("first byte", metrics.firstByte), ("total", start.duration(to: .now)),
        ]
        let times = phases.map { "\($0) \(oneDecimal($1.milliseconds))" }.joined(separator: " · ")
        let connection = metrics.isConnectionReused ? "open connection" : "new connection"
        console.note("* \(times) ms · \(byteCount(Int64(response.count))) · \(metrics.remoteAddress) · \(connection)")
    }
}

extension Duration {
    /// The duration in milliseconds.
    var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
    }
}
