import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// A field of a multipart form: `name=value`, or `name=@file;type=image/png;filename=a.png`.
struct FormPart: ExpressibleByArgument {
    /// The field, or `nil` if it has no name, or an `@` without a file.
    let field: FormField?

    init(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, parts[1] != "@" else {
            field = nil
            return
        }
        field =
            parts[1].hasPrefix("@")
            ? FormField(parts[0], Self.file(parts[1].dropFirst())) : FormField(parts[0], parts[1])
    }

    private static func file(_ text: Substring) -> FormFile {
        let marks = [";type=", ";filename="].compactMap { mark in text.range(of: mark).map { (mark, $0) } }
            .sorted { $0.1.lowerBound < $1.1.lowerBound }
        let path = String(text[..<(marks.first?.1.lowerBound ?? text.endIndex)])
        var said: [String: String] = [:]
        for (index, (mark, range)) in marks.enumerated() {
            let end = index + 1 < marks.count ? marks[index + 1].1.lowerBound : text.endIndex
            said[mark] = String(text[range.upperBound..<end])
        }
        let ending = path.split(separator: ".").last?.lowercased() ?? ""
        let type = said[";type="] ?? types[ending] ?? "application/octet-stream"
        return FormFile(path: path, filename: said[";filename="], contentType: type)
    }

    /// The media types that curl derives from file extensions, and some more that screens use.
    private static let types = [
        "gif": "image/gif", "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml",
        "webp": "image/webp", "txt": "text/plain", "html": "text/html", "pdf": "application/pdf",
        "xml": "application/xml", "json": "application/json",
    ]
}

/// A field of a form: `name=value`.
struct FieldArgument: ExpressibleByArgument {
    /// The name, or an empty string if it is missing.
    let name: String
    let value: String

    init(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        name = parts.count == 2 ? String(parts[0]) : ""
        value = String(parts.last ?? "")
    }
}
