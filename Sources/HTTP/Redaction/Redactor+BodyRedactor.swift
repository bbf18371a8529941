extension Redactor {
    /// An incremental redactor for a body, which buffers at most about 64 KiB.
    ///
    /// ```swift
    /// var redactor = Redactor.BodyRedactor(Redactor(), contentType: "application/json")
    /// for try await chunk in body { file.write(redactor.feed(chunk)) }
    /// file.write(redactor.finish())
    /// if let reason = redactor.unredactable { file.remove() }
    /// ```
    ///
    /// The output doesn't depend on how the body is split, and never contains part of a secret. If the redactor can no
    /// longer tell what is secret, it stops producing output, and `unredactable` has the reason. In that case, store
    /// only the size of the body.
    ///
    /// | type | replaced values |
    /// |---|---|
    /// | JSON, `+json`, JSON Lines | values of secret names at any depth, `{"name": "token", "value": "x"}` |
    /// | strings in JSON | JSON in them (one level), GraphQL documents under `query`, otherwise as text |
    /// | forms | values of secret names; other values, and names, as strings in JSON |
    /// | multipart | parts with secret names; other parts, also files, by their types |
    /// | text, event streams | secrets with a known format, URLs, pairs; JSON in a line or in an event's data |
    /// | XML, HTML, style sheets, scripts | known formats, URLs, elements and attributes with secret names, `"name": "x"` |
    /// | images and other binary types | nothing |
    ///
    /// In JSON, secret objects and arrays are replaced as a whole, and all other bytes stay. A body of missing or
    /// unknown type, or a form or text body of any kind, is scanned as JSON if it begins like JSON and is valid.
    public struct BodyRedactor: Sendable {
        /// The reason why the body must not be stored, or `nil` if it may be.
        public private(set) var unredactable: RedactedBody.Reason?
        /// The locations of replaced secrets.
        public private(set) var audit = Audit()

        private var scan: any BodyScan
        private var window = BodyWindow()
        private let place: String
        private var isBegun = false
        private let isText: Bool

        /// Creates a redactor for one body.
        ///
        /// - Parameters:
        ///   - redactor: The rules for secrets.
        ///   - contentType: The value of the body's `Content-Type`, if it has one.
        ///   - place: The name of the body in `audit`, such as `postData.text`.
        public init(_ redactor: Redactor, contentType: String?, at place: String = "body") {
            self.place = place
            let format = BodyFormat(contentType)
            isText = format != .binary
            scan = format.scan(redactor, contentType)
            if format == .unreadable { unredactable = .encoding }
        }

        /// Processes the next piece, and returns the output that is final.
        public mutating func feed(_ bytes: Data) -> Data {
            guard unredactable == nil else { return Data() }
            // Binary bodies aren't scanned.
            guard isText else { return bytes.startIndex == 0 ? bytes : bytes.withUnsafeBytes { Data($0) } }
            window.append(bytes)
            return window.isReadyToScan ? look(isFinal: false) : Data()
        }

        /// Ends the body, and returns the rest of the output.
        public mutating func finish() -> Data {
            unredactable == nil ? look(isFinal: true) : Data()
        }

        var isMultipart: Bool { scan is MultipartBody }

        private mutating func look(isFinal: Bool) -> Data {
            do throws(Unredactable) {
                if !isBegun {
                    guard isFinal || window.bytes.count >= 4 else { return Data() }
                    isBegun = true
                    try checkBeginning()
                }
                let settled = try scan.scan(window, isFinal: isFinal)
                audit.record(settled.edits, at: place)
                if settled.isTruncated { audit.markTruncated() }
                return Data(window.settle(settled))
            } catch {
                unredactable = error.reason
                window = BodyWindow()
                return Data()
            }
        }

        /// Rejects compressed bodies, and UTF-16 and UTF-32 by their byte order marks.
        private func checkBeginning() throws(Unredactable) {
            let beginnings: [[UInt8]] = [[0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD], [0xFE, 0xFF], [0xFF, 0xFE]]
            if beginnings.contains(where: { window.bytes.starts(with: $0) })
                || window.bytes.starts(with: [0, 0, 0xFE, 0xFF])
            {
                throw Unredactable(.encoding, at: 0)
            }
        }
    }
}

extension Redactor {
    /// Redacts a complete body with the rules of ``Redactor/BodyRedactor``, or returns the reason why that isn't
    /// possible.
    ///
    /// It fails closed: invalid JSON with a JSON type gives no body.
    public func redact(body: Data, contentType: String?) -> RedactedBody {
        var audit = Audit()
        return redact(body: body, contentType: contentType, at: "body", recordingTo: &audit)
    }

    /// Returns whether a quick check finds that the whole body may stay unchanged, as most short JSON may.
    ///
    /// A negative result means nothing.
    package func passes(body: Data, contentType: String?) -> Bool {
        BodyFormat(contentType) == .json && CleanJSONCheck.isClean(self, body.withUnsafeBytes { [UInt8]($0) }, depth: 0)
    }

    /// Returns whether a body of this type is binary, so that nothing in it is replaced.
    package static func isBinary(contentType: String) -> Bool { BodyFormat(contentType) == .binary }

    /// Returns whether secrets can be found in a text with this charset without decoding it.
    package static func canRead(charset: String) -> Bool { BodyFormat.isReadable(charset.lowercased()) }

    /// Redacts a complete body and records the locations of its secrets.
    ///
    /// - Parameters:
    ///   - body: The body, without content codings.
    ///   - contentType: The value of its `Content-Type`, if it has one.
    ///   - place: The name of the body in the audit, such as `postData.text`.
    ///   - audit: The audit to which the locations are added.
    public func redact(
        body: Data,
        contentType: String?,
        at place: String,
        recordingTo audit: inout Audit
    ) -> RedactedBody {
        var redactor = BodyRedactor(self, contentType: contentType, at: place)
        var redacted = redactor.feed(body)
        let rest = redactor.finish()
        if !rest.isEmpty { redacted += rest }
        audit.record(redactor.audit)
        if let reason = redactor.unredactable { return .omitted(reason) }
        return .body(redacted)
    }
}
