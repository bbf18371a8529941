package import BeagleNetHTTP

extension CachePolicy {
    /// Whether the rest of a response may be requested later if its transfer ends early (RFC 9111, 3.3).
    package static func mayContinue(_ response: HTTPResponse) -> Bool {
        let fields = response.headerFields
        return response.status == .ok && response.strongValidator != nil
            && (fields[.contentEncoding] ?? "identity").lowercased() == "identity"
            && fields[.acceptRanges]?.lowercased() != "none"
    }

    /// The fields that request the rest of a response (RFC 9110, 13.1.5 and 14.2).
    package static func fields(forRestOf beginning: StoredResponse) -> HTTPFields {
        var fields: HTTPFields = [.range: "bytes=\(beginning.body.count)-"]
        if let validator = beginning.head.strongValidator {
            fields[fields: .ifRange] = [HTTPField(name: .ifRange, opaqueValue: validator)]
        }
        return fields
    }

    /// The head of a complete response that consists of a stored beginning and a partial response (RFC 9111, 3.4).
    ///
    /// - Returns: The head, and the part that the body must be; `nil` if they don't belong together, or if the part
    ///   doesn't extend to the end.
    package static func completed(
        _ beginning: StoredResponse,
        by response: HTTPResponse
    ) -> (head: HTTPResponse, part: PartialBody)? {
        guard let part = PartialBody(response), part.start == beginning.body.count, let total = part.total,
            part.end == total, isSameRepresentation(beginning.head, response)
        else { return nil }
        var fields = beginning.head.headerFields
        fields[.age] = nil
        let update = response.headerFields.filter { $0.name != .contentRange && $0.name != .contentLength }
        for name in Set(update.map(\.name)) { fields[name] = nil }
        for field in update { fields.append(field) }
        fields[.contentLength] = String(total)
        return (HTTPResponse(status: .ok, headerFields: fields), part)
    }

    /// Whether a partial response has the validator of the beginning. It repeats an `ETag` (RFC 9110, 15.3.7), but not
    /// always a date.
    private static func isSameRepresentation(_ beginning: HTTPResponse, _ response: HTTPResponse) -> Bool {
        if let tag = beginning.headerFields.single(.eTag) {
            return response.headerFields.single(.eTag)?.opaqueValue == tag.opaqueValue
        }
        guard let date = response.headerFields[single: .lastModified] else {
            return !response.headerFields.contains(.lastModified)
        }
        return date == beginning.headerFields[single: .lastModified]
    }
}
