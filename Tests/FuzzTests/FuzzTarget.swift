@testable import BeagleNetCurl
@testable import BeagleNetHTTP
import BeagleNetRequestBuilder

/// What reads bytes that somebody else chose.
///
/// An error is a fine answer to any input. A crash, a hang, or a broken promise (a failed `precondition`) is not.
enum FuzzTarget: String, CaseIterable {
    case json, redactor, url, request, head, decoder

    func feed(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .json: fuzzJSON(bytes)
        case .redactor: fuzzRedactor(String(decoding: bytes, as: UTF8.self))
        case .url: fuzzURL(String(decoding: bytes, as: UTF8.self))
        case .request: fuzzRequest(String(decoding: bytes, as: UTF8.self))
        case .head: fuzzHead(bytes)
        case .decoder: fuzzDecoder(bytes)
        }
    }
}

/// What was parsed can be written, and reads as the same value.
private func fuzzJSON(_ bytes: UnsafeRawBufferPointer) {
    guard let value = try? JSONValue(parsing: Data(bytes)) else { return }
    do {
        let again = try JSONValue(parsing: value.data())
        precondition(again == value, "written JSON reads as another value")
    } catch {
        preconditionFailure("parsed JSON cannot be written or read again: \(error)")
    }
}

/// A secret does not survive, whatever stands before it in the query.
private func fuzzRedactor(_ text: String) {
    _ = Redactor().redact(url: text)
    let secret = "tOpSeCrEt"
    let query = text.filter { $0 != "#" }
    let url = "https://example.com/?\(query)&access_token=\(secret)"
    precondition(!Redactor().redact(url: url).contains(secret), "a redacted URL holds its secret")
}

/// A path never leads to another host than the base's.
private func fuzzURL(_ text: String) {
    let base = URL(string: "https://example.com/api?version=1")
    _ = UrlBuilder(baseUrl: nil).build(path: text)
    guard let url = UrlBuilder(baseUrl: base).build(path: "/" + text) else { return }
    precondition(url.host() == "example.com" && url.scheme == "https", "a path led to \(url.absoluteString)")
}

/// A line each: URL, header name, header value, field name, field value. Nothing that breaks the framing is built.
private func fuzzRequest(_ text: String) {
    let parts =
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) + Array(repeating: "", count: 5)
    guard let url = URL(string: parts[0]) else { return }
    let form = Request.FormData(
        method: parts[1].count.isMultiple(of: 2) ? .post : .get,
        fields: [FormField(parts[3], parts[4])],
        encoding: parts[2].count.isMultiple(of: 2) ? .json : .urlEncoded
    )
    let additionalData = HttpAdditionalData(headers: [parts[1]: parts[2]])
    for compatibility in [HttpRequestBuilder.Compatibility.standard, .beagle1] {
        let builder = HttpRequestBuilder(compatibility: compatibility)
        for type in [Request.RequestType.fetchComponent, .submitForm(form)] {
            let request = Request(url: url, type: type, additionalData: additionalData)
            guard let built = try? builder.build(request) else { continue }
            let written = [built.head.urlText] + built.head.headerFields.flatMap { [$0.name.rawName, $0.value] }
            for part in written {
                precondition(part.utf8.allSatisfy { $0 != 10 && $0 != 13 && $0 != 0 }, "a line break was let through")
            }
        }
    }
}

/// Header lines as libcurl would give them.
private func fuzzHead(_ bytes: UnsafeRawBufferPointer) {
    var head = ResponseHead()
    var rest = bytes[...]
    while !rest.isEmpty {
        let end = rest.firstIndex(of: 10).map { $0 + 1 } ?? rest.endIndex
        switch try? head.feed(UnsafeRawBufferPointer(rebasing: rest[..<end])) {
        case nil: return
        case .complete(let raw): precondition(raw.head.headerFields.count < 2_000, "more fields than lines")
        case .more, .interim: break
        }
        rest = rest[end...]
    }
}

/// The first byte chooses the encodings, the second the size of the pieces.
private func fuzzDecoder(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 2 else { return }
    let encodings = ["gzip", "deflate", "x-gzip", "br", "zstd", "gzip, deflate", "identity, gzip, br"]
    let encoding = encodings[Int(bytes[0]) % encodings.count]
    let size = Int(bytes[1]) + 1
    var decoded = 0
    do {
        guard let decoder = try ContentDecoder(contentEncoding: encoding) else { return }
        var rest = bytes.dropFirst(2)
        while !rest.isEmpty {
            var piece = UnsafeRawBufferPointer(rebasing: rest.prefix(size))
            while true {
                let output = try decoder.decode(&piece)
                if output.isEmpty { break }
                decoded += output.count
                // A client has such a limit too: a kilobyte may hold a megabyte.
                if decoded > 4 << 20 { return }
            }
            precondition(piece.isEmpty, "encoded bytes were left over")
            rest = rest.dropFirst(size)
        }
        try decoder.finish()
    } catch {}
}
