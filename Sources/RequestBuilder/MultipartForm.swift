import BeagleNetHTTP

/// Writes fields as `multipart/form-data` (RFC 7578), names and text as browsers do
/// (https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data).
package struct MultipartForm: Sendable {
    /// What stands behind the two dashes. At random, so that no value can hold it (RFC 2046, 5.1.1).
    let boundary: String

    /// - Parameter boundary: 1 to 70 characters of a token; a random one where nil.
    init(boundary: String? = nil) {
        self.boundary = boundary ?? Self.randomBoundary()
    }

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// The body: in memory where no file is among the fields, else read as it is sent, again where it is sent again.
    ///
    /// - Throws: `NetworkError` of kind `.file` where a file cannot be read, `.badRequest` for a media type that is none.
    func body(of fields: [FormField]) throws(NetworkError) -> HTTPBody {
        var segments: [MultipartSegments.Segment] = []
        var text = ""
        for field in fields {
            text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(field.name.withLineEnds))\""
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
                text += "\r\n\r\n\(field.value.formText.withLineEnds)\r\n"
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

    /// A name between quotes: only what would end it or its line is escaped, and nothing else, not even `%`.
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
    /// Each line ended by CR LF, whatever ended it.
    fileprivate var withLineEnds: String {
        guard utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return self }
        var text = String.UnicodeScalarView()
        var isBehindReturn = false
        for scalar in unicodeScalars {
            switch scalar {
            case "\r": text += ["\r", "\n"]
            case "\n": if !isBehindReturn { text += ["\r", "\n"] }
            default: text.append(scalar)
            }
            isBehindReturn = scalar == "\r"
        }
        return String(text)
    }
}
