/// Takes secrets out of a body that comes in pieces of any size, and keeps at most some 64 KiB of it waiting.
///
/// ```swift
/// var redactor = BodyRedactor(Redactor(), contentType: "application/json")
/// for try await chunk in body { file.write(redactor.feed(chunk)) }
/// file.write(redactor.finish())
/// if let reason = redactor.unredactable { file.remove() }
/// ```
/// What comes out does not depend on the pieces. No part of a secret is ever given out; where it cannot tell any more what
/// is secret it gives nothing from there on, and `unredactable` says why. Then nothing but the size should be kept.
///
/// | type | what is replaced |
/// |---|---|
/// | JSON, `+json`, JSON Lines | values of secret names at any depth, whole objects and arrays too, and of `{"name": "token", "value": "x"}`; all other bytes stay |
/// | strings in JSON | JSON in them one level deep, GraphQL documents under `query`, else as text |
/// | forms | values of secret names; the others, and names, as strings in JSON |
/// | multipart | parts with secret names; the others, files too, by their types |
/// | text, event streams | what is known by its look, URLs, pairs; JSON in a line or in an event's data |
/// | XML, HTML, style sheets, scripts | what is known by its look, URLs, elements and attributes with secret names, `"name": "x"` |
/// | images and other binary types | nothing |
///
/// A body of a type that is missing or unknown, or of a form or text of any kind that begins like JSON, is looked through as
/// JSON if it is some.
public struct BodyRedactor: Sendable {
    /// Why the body must not be kept; nil as long as it may.
    public private(set) var unredactable: RedactedBody.Reason?
    /// What was replaced.
    public private(set) var audit = RedactionAudit()

    private var scan: any BodyScan
    private var window = BodyWindow()
    private let place: String
    private var isBegun = false
    private let isText: Bool

    /// A redactor of one body.
    ///
    /// - Parameters:
    ///   - redactor: knows what is secret.
    ///   - contentType: the value of its `Content-Type`, if it has one.
    ///   - place: what `audit` calls the body: `postData.text`.
    public init(_ redactor: Redactor, contentType: String?, at place: String = "body") {
        self.place = place
        let sort = BodySort(contentType)
        isText = sort != .binary
        scan = sort.scan(redactor, contentType)
        if sort == .unreadable { unredactable = .encoding }
    }

    /// Takes the next piece, and gives what is settled by it.
    public mutating func feed(_ bytes: Data) -> Data {
        guard unredactable == nil else { return Data() }
        // Nobody looks at it.
        guard isText else { return bytes.startIndex == 0 ? bytes : bytes.withUnsafeBytes { Data($0) } }
        window.append(bytes)
        return window.isWorthALook ? look(isFinal: false) : Data()
    }

    /// Says that the body has ended, and gives the rest.
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
            audit.note(settled.edits, at: place)
            if settled.isCut { audit.cut() }
            return Data(window.settle(settled))
        } catch {
            unredactable = error.reason
            window = BodyWindow()
            return Data()
        }
    }

    /// Refuses what is compressed, and UTF-16 and UTF-32 by their byte order marks.
    private func checkBeginning() throws(Unredactable) {
        let beginnings: [[UInt8]] = [[0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD], [0xFE, 0xFF], [0xFF, 0xFE]]
        if beginnings.contains(where: { window.bytes.starts(with: $0) })
            || window.bytes.starts(with: [0, 0, 0xFE, 0xFF])
        {
            throw Unredactable(.encoding, at: 0)
        }
    }
}

extension Redactor {
    /// The body with its secrets replaced, as ``BodyRedactor`` does it, or the reason why nobody can vouch for it.
    ///
    /// It fails closed: JSON by its type that cannot be read gives no body.
    public func redact(body: Data, contentType: String?) -> RedactedBody {
        var audit = RedactionAudit()
        return redact(body: body, contentType: contentType, at: "body", noting: &audit)
    }

    /// Whether one quick look tells that the whole body may stay as it is: short JSON mostly does. That it does not tell
    /// means nothing.
    package func passes(body: Data, contentType: String?) -> Bool {
        BodySort(contentType) == .json && PlainJSON.holds(self, body.withUnsafeBytes { [UInt8]($0) }, depth: 0)
    }

    /// Whether a body of this type is no text by its type, so that nothing in it is replaced.
    package static func isBinary(contentType: String) -> Bool { BodySort(contentType) == .binary }

    /// The body with its secrets replaced, as without an audit.
    ///
    /// - Parameters:
    ///   - body: the body, without content codings.
    ///   - contentType: the value of its `Content-Type`, if it has one.
    ///   - place: what the audit calls the body: `postData.text`.
    ///   - audit: takes what was found.
    public func redact(
        body: Data,
        contentType: String?,
        at place: String,
        noting audit: inout RedactionAudit
    ) -> RedactedBody {
        var redactor = BodyRedactor(self, contentType: contentType, at: place)
        var redacted = redactor.feed(body)
        let rest = redactor.finish()
        if !rest.isEmpty { redacted += rest }
        audit.note(redactor.audit)
        if let reason = redactor.unredactable { return .omitted(reason) }
        return .body(redacted)
    }
}
