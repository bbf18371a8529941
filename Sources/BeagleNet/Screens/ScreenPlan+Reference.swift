public import BeagleNetHTTP

extension ScreenPlan {
    /// A reference of a screen to the network, such as an image or the screen behind a button.
    ///
    /// A reference is a position in the document: its properties are read from there when they are used.
    public struct Reference: Sendable {
        let contents: ScreenPlanContents
        let index: Int

        private var resolved: ScreenResolver.Resolved { contents.resolved[index] }
        private var record: ScreenRecord { contents.records[Int(resolved.record)] }
        private var parts: ScreenRequestParts { record.parts < 0 ? .none : contents.parts[Int(record.parts)] }

        /// The purpose of the reference.
        public var kind: Kind { Kind(record.kind) }

        /// The time at which the reference is needed.
        public var when: Time { Time(resolved.time) }

        /// The position of the URL in the document, as a JSON pointer (RFC 6901) such as `/child/path/url`.
        ///
        /// It leads to a string. The elements that a template is shown for have the same pointer, to the template.
        public var pointer: String {
            contents.document.withBytes { contents.paths.pointer(record.path, in: $0) }
        }

        /// The URL as the screen has it, which may be relative, or have expressions.
        public var url: String { contents.text(record.url) ?? "" }

        /// Whether the URL has an expression.
        public var isExpression: Bool { resolved.url != -1 }

        /// The URL with the values of its expressions, or `nil` if a value isn't known.
        ///
        /// Values are taken from the contexts and lists of the screen. The URL may be relative.
        public var resolvedURL: String? {
            switch resolved.url {
            case -1: record.isPlain ? url : contents.literal(record.url)
            case -2: nil
            case let text: contents.texts[Int(text)]
            }
        }

        /// The method of the request in upper case, or an expression whose value isn't known. `GET` by default.
        public var method: String {
            switch resolved.method {
            case -1: (contents.literal(parts.method) ?? "GET").uppercased()
            case -2: contents.text(parts.method) ?? "GET"
            case let text: contents.texts[Int(text)].uppercased()
            }
        }

        /// The JSON text of the header fields, usually an object, or `nil` if the screen has none.
        ///
        /// The bytes are a part of `ParsedScreen.document`, not a copy.
        public var headers: Data? { part(parts.headers) }

        /// The JSON text of the body, which may have expressions, or `nil` if the screen has none.
        ///
        /// The bytes are a part of `ParsedScreen.document`, not a copy.
        public var body: Data? { part(parts.body) }

        /// The names of the inputs of a Beagle 1.x form, which are sent with their values.
        public var fields: [String] {
            guard record.kind == .form, record.form >= 0 else { return [] }
            return contents.forms[Int(record.form)].compactMap { contents.text(contents.inputs[$0]) }
        }

        /// The members with the actions that lead to the reference, from the first to the last, such as `onPress` and
        /// `onSuccess`. Empty if the reference doesn't belong to an action.
        public var events: [String] {
            contents.document.withBytes { contents.paths.events(record.path, in: $0) }
        }

        /// The first reason not to prefetch, or `nil` if the reference can be prefetched.
        public var obstacle: Obstacle? { Obstacle(resolved.obstacle) }

        /// Whether the reference can be fetched before it is needed: its URL is known, the request has no side effects,
        /// and a screen is marked for it.
        public var isPrefetchable: Bool { resolved.obstacle == .none }

        private func part(_ span: JSONSpan) -> Data? {
            guard span.isPresent else { return nil }
            let start = contents.document.startIndex
            return contents.document[start + span.start..<start + span.end]
        }
    }
}

extension ScreenPlanContents {
    /// Returns a text without an expression, in which an escaped `\@{` is an `@{`.
    fileprivate func literal(_ span: JSONSpan) -> String? {
        guard let text = text(span), span.hasEscapes, text.utf8.contains(UInt8(ascii: "\\")) else { return text(span) }
        return ScreenExpression.unescaped(text)
    }
}
