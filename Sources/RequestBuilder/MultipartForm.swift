import BeagleNetHTTP

/// A writer of fields as `multipart/form-data` (RFC 7578).
///
/// It writes names and text as browsers do
/// (https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data).
package struct MultipartForm: Sendable {
    /// The boundary after the two dashes, random so that no value can contain it (RFC 2046, 5.1.1).
    let boundary: String

    /// Creates a writer.
    ///
    /// - Parameter boundary: 1 to 70 characters of a token, or `nil` to use a random boundary.
    init(boundary: String? = nil) {
        self.boundary = boundary ?? Self.randomBoundary()
    }

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// Returns the body, in memory if there are no files; otherwise the files are read as the body is sent, each time.
    ///
    /// - Throws: `NetworkError` of kind `.file` if a file can't be read, `.badRequest` for an invalid media type.
    func body(of fields: [FormField]) throws(NetworkError) -> HTTPBody {
        var segments: [MultipartSegments.Segment] = []
        var text = ""
        for field in fields {
            text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(field.name.withCRLF))\""
            if let file = field.file {
                guard MediaType(file.contentType) != nil, HTTPField.isValidValue(file.contentType) else {
                    throw .badRequest(
                        "the media type of the form field \(field.name) is not valid",
                        "write it like image/png"
                    )
                }
                text += "; filename=\"\(Self.escaped(file.filename))\"\r\nContent-Type: \(file.contentType)\r\n\r\n"
                segments += [.bytes(Data(text.utf8)), try Self.segment(of: file)]
                text = "\r\n"
            } else {
                text += "\r\n\r\n\(field.value.formText.withCRLF)\r\n"
            }
        }
        segments.append(.bytes(Data("\(text)--\(boundary)--\r\n".utf8)))
        return MultipartSegments(segments).body
    }

    private static func segment(of file: FormFile) throws(NetworkError) -> MultipartSegments.Segment {
        switch file.content {
        case .data(let data): return .bytes(data)
        case .path(let path):
            do throws(NetworkError) {
                return .file(path: path, size: try OpenFile(reading: path).size())
            } catch {
                var error = error
                error.phase = .build
                throw error
            }
        }
    }

    /// Escapes a name in quotes: only characters that would end the name or its line, not even `%`.
    private static func escaped(_ name: String) -> String {
        var escaped = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\n": escaped += "%0A"
            case "\r": escaped += "%0D"
            case "\"": escaped += "%22"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    package static func randomBoundary() -> String {
        let digits = (0..<2).map { _ in
            let text = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return "beagle-\(digits.joined())"
    }
}

extension String {
    /// The text with CR LF at each line end.
    fileprivate var withCRLF: String {
        guard utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return self }
        var text = String.UnicodeScalarView()
        var followsCarriageReturn = false
        for scalar in unicodeScalars {
            switch scalar {
            case "\r": text += ["\r", "\n"]
            case "\n": if !followsCarriageReturn { text += ["\r", "\n"] }
            default: text.append(scalar)
            }
            followsCarriageReturn = scalar == "\r"
        }
        return String(text)
    }
}
