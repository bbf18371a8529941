@testable import BeagleNetCurl
@testable import BeagleNetHTTP
import BeagleNetRequestBuilder

/// The parsers of untrusted bytes.
///
/// An error is a valid result for any input. A crash, a hang or a broken invariant (a failed `precondition`) is not.
enum FuzzTarget: String, CaseIterable {
    case json, redactor, url, request, head, decoder, range, events, multipart, frames, handshake
    case cookie, redirect, challenge, altsvc, body, har, filter, log, document, pieces, socket, image, screen

    func feed(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .json: fuzzJSON(bytes)
        case .redactor: fuzzRedactor(String(decoding: bytes, as: UTF8.self))
        case .url: fuzzURL(String(decoding: bytes, as: UTF8.self))
        case .request: fuzzRequest(String(decoding: bytes, as: UTF8.self))
        case .head: fuzzHead(bytes)
        case .decoder: fuzzDecoder(bytes)
        case .range: fuzzRange(String(decoding: bytes, as: UTF8.self))
        case .events: fuzzEvents(bytes)
        case .multipart: fuzzMultipart(bytes)
        case .frames: fuzzFrames(bytes)
        case .handshake: fuzzHandshake(bytes)
        case .cookie: Self.fuzzCookie(String(decoding: bytes, as: UTF8.self))
        case .redirect: Self.fuzzRedirect(bytes)
        case .challenge: Self.fuzzChallenge(String(decoding: bytes, as: UTF8.self))
        case .body: Self.fuzzBody(bytes)
        case .har: Self.fuzzHAR(bytes)
        case .filter: Self.fuzzFilter(String(decoding: bytes, as: UTF8.self))
        case .log: Self.fuzzLog(bytes)
        case .document: Self.fuzzDocument(String(decoding: bytes, as: UTF8.self))
        case .pieces: Self.fuzzPieces(bytes)
        case .socket: Self.fuzzSocket(bytes)
        case .image: Self.fuzzImage(bytes)
        case .screen: Self.fuzzScreen(bytes)
        case .altsvc: Self.fuzzAltSvc(String(decoding: bytes, as: UTF8.self))
        }
    }
}

/// A parsed value can be written and parsed again to the same value.
private func fuzzJSON(_ bytes: UnsafeRawBufferPointer) {
    let data = Data(bytes)
    _ = try? TapeDecoder.decode(JSONValue.self, from: data)
    _ = try? TapeDecoder.decode([String: [Double?]].self, from: data)
    guard let value = try? JSONValue(parsing: data) else { return }
    do {
        let again = try JSONValue(parsing: value.data())
        precondition(again == value, "written JSON is parsed as another value")
        _ = try TapeDecoder.decode(JSONValue.self, from: TreeEncoder.encode(value))
    } catch {
        preconditionFailure("parsed JSON cannot be written or read again: \(error)")
    }
}

/// A secret in the query is redacted, regardless of the text before it.
private func fuzzRedactor(_ text: String) {
    _ = Redactor().redact(url: text)
    let secret = "tOpSeCrEt"
    precondition(
        !Redactor().redact(text: "\(text)\npassword=\(secret)").contains(secret),
        "a redacted text contains its secret"
    )
    let query = text.filter { $0 != "#" }
    let url = "https://example.com/?\(query)&access_token=\(secret)"
    precondition(!Redactor().redact(url: url).contains(secret), "a redacted URL contains its secret")
}

/// A path never leads to a host other than that of the base URL.
private func fuzzURL(_ text: String) {
    let base = URL(string: "https://example.com/api?version=1")
    _ = UrlBuilder(baseUrl: nil).build(path: text)
    guard let url = UrlBuilder(baseUrl: base).build(path: "/" + text) else { return }
    precondition(url.host() == "example.com" && url.scheme == "https", "a path led to \(url.absoluteString)")
}

/// The lines are a URL, header name, header value, field name and field value. No built request breaks the framing.
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
                precondition(
                    part.utf8.allSatisfy { $0 != 10 && $0 != 13 && $0 != 0 },
                    "a built request contains a line break"
                )
            }
        }
    }
}

/// Feeds header lines, as libcurl passes them, to a head that uses the fast path and to one that parses each line.
private func fuzzHead(_ bytes: UnsafeRawBufferPointer) {
    var head = ResponseHead()
    var plain = ResponseHead()
    var rest = bytes[...]
    while !rest.isEmpty {
        let end = rest.firstIndex(of: 10).map { $0 + 1 } ?? rest.endIndex
        let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        rest = rest[end...]
        let expected = try? plain.feed(line)
        if head.takes(line) {
            guard case .more = expected else {
                preconditionFailure("the fast path took a line with a different result")
            }
            continue
        }
        switch (try? head.feed(line), expected) {
        case (nil, nil): return
        case (.complete(let raw), .complete(let expected)):
            precondition(raw.head.headerFields.count < 2_000, "more fields than lines")
            precondition(raw.head == expected.head, "the heads differ")
        case (.interim(let raw), .interim(let expected)): precondition(raw == expected, "the interim heads differ")
        case (.more, .more): break
        default: preconditionFailure("the results for a line differ")
        }
        precondition(head.bytes == plain.bytes && head.isComplete == plain.isComplete)
    }
    let trailers = try? head.trailers()
    precondition(trailers == (try? plain.trailers()), "the trailers differ")
    if let trailers { precondition(trailers.count < 2_000, "more trailers than lines") }
}

/// The first byte selects the encodings, the second the size of the pieces.
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
                // A client has such a limit, too: a kilobyte can decode to a megabyte.
                if decoded > 4 << 20 { return }
            }
            precondition(piece.isEmpty, "encoded bytes were left over")
            rest = rest.dropFirst(size)
        }
        try decoder.finish()
    } catch {}
}

/// The lines are a `Content-Range` and a date. A range lies within its total length.
private func fuzzRange(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if let range = ContentRange(lines[0]), let bytes = range.bytes {
        precondition(
            bytes.lowerBound >= 0 && bytes.upperBound < range.total ?? .max,
            "a range outside of its total length"
        )
    }
    if let line = lines.last { _ = HTTPDate(line) }
}

/// The first byte selects the size of the pieces, which doesn't change the result.
private func fuzzEvents(_ bytes: UnsafeRawBufferPointer) {
    func events(size: Int) -> [EventStream.Event] {
        var stream = EventStream(maxEventBytes: 256)
        var events: [EventStream.Event] = []
        do throws(NetworkError) {
            for piece in pieces(of: Data(bytes.dropFirst()), size: size) {
                stream.feed(piece)
                while let event = try stream.next() { events.append(event) }
            }
        } catch {}
        return events
    }
    let whole = events(size: max(1, bytes.count))
    precondition(events(size: Int(bytes.first ?? 0) + 1) == whole, "events depend on the pieces")
    precondition(whole.allSatisfy { !$0.id.contains("\0") }, "an id contains NUL")
}

/// The first byte selects the size of the pieces, which doesn't change the result.
private func fuzzMultipart(_ bytes: UnsafeRawBufferPointer) {
    func parts(size: Int) -> [(HTTPFields, Data)] {
        var parts: [(HTTPFields, Data)] = []
        do throws(NetworkError) {
            var reader = try MultipartReader(boundary: "b", maxHeadBytes: 256)
            for piece in pieces(of: Data(bytes.dropFirst()), size: size) {
                reader.feed(piece)
                while let element = try reader.next() {
                    switch element {
                    case .head(let fields): parts.append((fields, Data()))
                    case .body(let body): parts[parts.count - 1].1 += body
                    case .end: precondition(!parts.isEmpty, "a part ended that had not begun")
                    }
                }
            }
            try reader.finish()
        } catch {
            // The returned bytes of an incomplete part depend on the pieces.
            parts = parts.dropLast()
        }
        return parts
    }
    let whole = parts(size: max(1, bytes.count))
    let other = parts(size: Int(bytes.first ?? 0) + 1)
    precondition(whole.elementsEqual(other, by: ==), "parts depend on the pieces")
    precondition(
        whole.allSatisfy { $0.1.firstRange(of: Data("\r\n--b\r\n".utf8)) == nil },
        "a body contains a boundary"
    )
}

private func pieces(of bytes: Data, size: Int) -> [Data] {
    stride(from: 0, to: bytes.count, by: size).map { bytes.dropFirst($0).prefix(size) }
}

/// The first byte is the size of the pieces, and the rest is sent by a WebSocket server. The pieces don't change the
/// result.
private func fuzzFrames(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first else { return }
    let size = Int(first) + 1
    let limit = 2_000
    var (whole, pieces) = (WebSocketSession(maxMessageBytes: limit), WebSocketSession(maxMessageBytes: limit))
    var rest = bytes.dropFirst()
    let messages = whole.receive(UnsafeRawBufferPointer(rebasing: rest))
    var again: [WebSocket.Message] = []
    while !rest.isEmpty {
        again += pieces.receive(UnsafeRawBufferPointer(rebasing: rest.prefix(size)))
        rest = rest.dropFirst(size)
    }
    precondition(messages == again, "the messages depend on the pieces")
    precondition(whole.peerClose == pieces.peerClose, "the close depends on the pieces")
    precondition(whole.violation?.message == pieces.violation?.message, "the violation depends on the pieces")
    precondition(messages.allSatisfy { $0.byteCount <= limit }, "a message is larger than allowed")
    precondition(whole.nextChunk().count < 300 && whole.nextChunk().isEmpty, "pongs accumulate")
}

/// The first byte is the position at which the handshake response is split, which doesn't change the result.
private func fuzzHandshake(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first else { return }
    let answer = bytes.dropFirst()
    let head = HTTPRequest(method: .get, scheme: "ws", authority: "h", path: "/")
    let request = WebSocket.Request(head, subprotocols: ["chat"])
    func outcome(_ pieces: [Slice<UnsafeRawBufferPointer>]) -> String {
        do throws(NetworkError) {
            var handshake = try WebSocketHandshake(request, host: "h", nonce: Data("the sample nonce".utf8))
            var rest = Data()
            var status: Int?
            for piece in pieces {
                if status != nil {
                    rest.append(contentsOf: piece)
                } else if let agreement = try handshake.receive(UnsafeRawBufferPointer(rebasing: piece)) {
                    (status, rest) = (agreement.head.status.code, agreement.rest)
                }
            }
            return "\(status ?? 0) \(rest.count)"
        } catch {
            return error.message
        }
    }
    precondition(
        outcome([answer]) == outcome([answer.prefix(Int(first)), answer.dropFirst(Int(first))]),
        "the result of the handshake depends on the pieces"
    )
}
