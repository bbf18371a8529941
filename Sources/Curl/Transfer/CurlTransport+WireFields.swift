package import BeagleNetHTTP
import CBeagleNetCurl

extension CurlTransport {
    /// Returns the header fields of a request as sent over HTTP/1.1, in order: those that libcurl adds in front, the
    /// request's own, and those that we add after them.
    ///
    /// Nothing is sent, and a streamed body is not opened.
    ///
    /// - Throws: `NetworkError` if `perform` would reject the request before connecting.
    package static func wireFields(
        of request: TransferRequest,
        _ configuration: Configuration = Configuration()
    ) throws(NetworkError) -> HTTPFields {
        try MessageCheck.check(request)
        let message = Message(request)
        let memory = ClientStores(configuration)
        let alternative = memory?.alternative(for: request)
        let own = try Hop.fields(of: message, by: memory, via: alternative, answering: nil)
        let host = if let host = own[hostName] { host } else { try host(of: request.head) }
        var fields: HTTPFields = [hostName: host]
        for field in own where field.name != hostName { fields.append(field) }
        for line in Hop.addedLines(to: message, decodes: Hop.decodes(message)) {
            // A line without a value removes a field that libcurl would add.
            guard let mark = line.firstRange(of: ": "), let name = HTTPField.Name(String(line[..<mark.lowerBound]))
            else { continue }
            fields.append(HTTPField(name: name, value: String(line[mark.upperBound...])))
        }
        guard let body = request.body else { return fields }
        let upload = try makeUploadSource(body) {}
        defer { upload.close() }
        fields.append(
            upload.length.map { HTTPField(name: .contentLength, value: String($0)) }
                ?? HTTPField(name: .transferEncoding, value: "chunked")
        )
        return fields
    }

    private static let hostName = HTTPField.Name("Host")!

    /// Returns host and port as libcurl writes them: without the scheme's default port, and with an IPv6 address in its
    /// short form.
    static func host(of head: HTTPRequest) throws(NetworkError) -> String {
        guard let url = curl_url() else { throw .unsent(.other, "libcurl did not accept the URL: out of memory") }
        defer { curl_url_cleanup(url) }
        var plain = head
        plain.path = "/"
        guard curl_url_set(url, CURLUPART_URL, plain.urlText, 0) == CURLUE_OK, let host = part(CURLUPART_HOST, of: url)
        else {
            throw .unsent(.badURL, "libcurl does not accept the host")
        }
        return part(CURLUPART_PORT, of: url).map { "\(host):\($0)" } ?? host
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, UInt32(CURLU_NO_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
