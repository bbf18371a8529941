import BeagleNetHTTP

/// A request as shared by a transfer and its hop. It is immutable, so reading it needs no exclusivity check.
final class Message: Sendable {
    /// The header fields that affect how a request is sent.
    struct Names: OptionSet {
        let rawValue: UInt8

        static let accept = Names(rawValue: 1)
        static let acceptEncoding = Names(rawValue: 1 << 1)
        static let contentType = Names(rawValue: 1 << 2)
        static let cookie = Names(rawValue: 1 << 3)
        static let range = Names(rawValue: 1 << 4)
        /// The fields that delimit the body.
        static let framing = Names(rawValue: 1 << 5)
    }

    let request: TransferRequest
    // Copied out of the request once because they are read often.
    let method: HTTPRequest.Method
    /// The scheme; empty if the request has no scheme.
    let scheme: String
    /// The authority; empty if the request has no authority.
    let authority: String
    let path: String
    /// The fields of `Names` that the request has.
    let names: Names

    init(_ request: TransferRequest) {
        self.request = request
        let head = request.head
        method = head.method
        scheme = head.scheme ?? ""
        authority = head.authority ?? ""
        path = head.path ?? "/"
        names = Names(head.headerFields)
    }

    /// The URL of the request on the wire.
    var urlText: String { HTTPRequest.urlText(scheme, authority, path) }

    /// Returns a changed copy of the message.
    func changed(_ change: (inout TransferRequest) -> Void) -> Message {
        var request = request
        change(&request)
        return Message(request)
    }
}

extension Message.Names {
    init(_ fields: HTTPFields) {
        self = []
        for index in fields.indices { formUnion(Self.of(fields[index].name)) }
    }

    /// Returns the option for a field name. Comparing lengths first rules out nearly all names and is faster than
    /// comparing strings.
    private static func of(_ name: HTTPField.Name) -> Self {
        switch name.canonicalName.utf8.count {
        case "range".utf8.count: name == .range ? .range : []
        case "accept".utf8.count: name == .accept ? .accept : name == .cookie ? .cookie : []
        case "content-type".utf8.count: name == .contentType ? .contentType : []
        case "content-length".utf8.count: name == .contentLength ? .framing : []
        case "accept-encoding".utf8.count: name == .acceptEncoding ? .acceptEncoding : []
        case "transfer-encoding".utf8.count: name == .transferEncoding ? .framing : []
        default: []
        }
    }
}
