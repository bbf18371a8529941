import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A recorded response in the form in which a transport returns it.
struct ReplayResponse: Sendable {
    let entry: LogEntry
    let response: LogEntry.Response
    let head: HTTPResponse
    /// The error that ends the body; `nil` if the body is complete.
    let failure: NetworkError?

    /// Creates a response from an entry.
    ///
    /// - Throws: the recorded error if the entry has no response.
    init(_ entry: LogEntry) throws(NetworkError) {
        guard let response = entry.response, (100...999).contains(response.status) else { throw entry.failure() }
        self.entry = entry
        self.response = response
        failure = entry.error == nil && !entry.isInterrupted ? nil : entry.failure(during: .body)
        let status = HTTPResponse.Status(code: response.status, reasonPhrase: response.statusText)
        head = HTTPResponse(
            status: status,
            headerFields: Self.fields(of: response, hasBody: entry.request.method != "HEAD")
        )
    }

    /// The fields that describe the coding of the body, which is decoded here.
    private static let codingFields: Set<HTTPField.Name> = [.contentEncoding, .transferEncoding]

    /// Returns the header fields. Invalid ones are omitted, such as HTTP/2 pseudo-header fields in archives.
    private static func fields(of response: LogEntry.Response, hasBody: Bool) -> HTTPFields {
        var fields = HTTPFields()
        for field in response.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            if hasBody, codingFields.contains(name) { continue }
            if hasBody, name == .contentLength, response.status != 304 {
                // If the length is unknown, no field is better than a wrong one.
                if response.body.size >= 0 { fields[.contentLength] = "\(response.body.size)" }
                continue
            }
            fields.append(HTTPField(name: name, value: field.value))
        }
        let isRedirect = (300..<400).contains(response.status)
        if isRedirect, !response.redirectURL.isEmpty, fields[.location] == nil {
            fields[.location] = response.redirectURL
        }
        return fields
    }

    var trailers: HTTPFields {
        var fields = HTTPFields()
        for field in response.trailers {
            if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
        }
        return fields
    }

    var interim: [HTTPResponse] {
        response.interim.filter { (100..<200).contains($0.status) }.map { interim in
            var fields = HTTPFields()
            for field in interim.fields {
                if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
            }
            return HTTPResponse(status: HTTPResponse.Status(code: interim.status), headerFields: fields)
        }
    }

    /// Whether the response has a body (RFC 9110, 6.4.1).
    var hasBody: Bool {
        entry.request.method != "HEAD" && response.status != 204 && response.status != 304
    }
}

extension LogEntry {
    /// Returns the error for a missing or incomplete response.
    fileprivate func failure(during phase: NetworkError.Phase = .firstByte) -> NetworkError {
        if let error { return NetworkError(recorded: error, during: phase) }
        return NetworkError(
            phase == .body ? .truncated : .network,
            during: phase,
            isInterrupted ? "the recording ends before the response does" : "the recording has no response"
        )
    }
}

extension NetworkError {
    /// Creates an error from the text of an entry, `kind: message`. Other text in archives becomes the message.
    init(recorded text: String, during phase: Phase) {
        let parts = text.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
        let isKind = parts[0].utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x61...0x7A).contains($0) }
        guard parts.count == 2, isKind, !parts[0].isEmpty else {
            self.init(text == "timeout" ? .timeout : .network, during: phase, text)
            return
        }
        self.init(Kind(rawValue: String(parts[0])), during: phase, String(parts[1]))
    }
}

extension TransferMetrics {
    /// Creates metrics from the recorded timings.
    init(_ entry: LogEntry) {
        self.init()
        let timings = entry.timings
        let connect = max(timings.connect ?? .zero, timings.tls ?? .zero)
        queued = timings.blocked ?? .zero
        nameLookup = timings.dns ?? .zero
        if timings.connect != nil || timings.tls != nil { self.connect = nameLookup + connect - (timings.tls ?? .zero) }
        if timings.tls != nil { tlsHandshake = nameLookup + connect }
        requestStart = nameLookup + connect
        requestEnd = requestStart + (timings.send ?? .zero)
        firstByte = requestEnd + (timings.wait ?? .zero)
        total = firstByte + (timings.receive ?? .zero)
        isConnectionReused = timings.connect == nil && entry.serverAddress != nil
        remoteAddress = entry.serverAddress ?? ""
        protocolName = entry.response?.httpVersion ?? ""
        bytesReceived = max(entry.response?.bodyBytes ?? 0, 0)
        headBytesReceived = max(entry.response?.headBytes ?? 0, 0)
        bytesSent = max(entry.request.bodyBytes, 0)
        headBytesSent = max(entry.request.headBytes, 0)
    }
}
