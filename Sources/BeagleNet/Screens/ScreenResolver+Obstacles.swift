/// The reason that a reference isn't prefetched, in one byte.
enum ScreenObstacle: UInt8, Sendable {
    case none, unsafeMethod, body, expression, template, notMarked, otherScheme, undeclared, data, input
    case openedElsewhere
}

extension ScreenResolver {
    /// Returns the first reason against a prefetch.
    func obstacle(
        of record: ScreenRecord,
        _ parts: ScreenRequestParts,
        _ url: ResolvedText,
        _ method: ResolvedText
    ) -> ScreenObstacle {
        if record.kind == .unknown { return .undeclared }
        if hasOtherScheme(url, record.url) { return .otherScheme }
        if record.kind == .webPage { return .openedElsewhere }
        if url == .unknown { return usedItem ? .template : .expression }
        if method == .unknown { return .expression }
        if !isSafe(method, parts.method) { return .unsafeMethod }
        if record.kind == .form { return .input }
        if parts.body.isPresent { return .body }
        if hasExpression(parts.headers) { return .expression }
        if record.time == .data { return .data }
        if record.kind == .request || (record.kind == .route && !record.isMarked) { return .notMarked }
        return .none
    }

    /// Whether a URL begins with a scheme other than http and https, such as `tel:` or `empty:`.
    private func hasOtherScheme(_ url: ResolvedText, _ span: JSONSpan) -> Bool {
        if case .text(let text) = url { return URLScheme(of: text) == .other }
        return span.scheme(in: bytes) == .other
    }

    private func isSafe(_ method: ResolvedText, _ span: JSONSpan) -> Bool {
        guard span.isPresent else { return true }
        let name: String
        switch method {
        case .text(let text): name = text
        case .literal: name = span.text(in: bytes)
        // An empty method is the default.
        case .none, .unknown: name = "GET"
        }
        return ["GET", "HEAD", ""].contains(name.uppercased())
    }

    private func hasExpression(_ headers: JSONSpan) -> Bool {
        headers.isPresent && headers.mayHaveExpression(in: bytes)
            && ScreenExpression.occurs(in: headers.text(in: bytes))
    }
}
