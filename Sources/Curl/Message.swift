import BeagleNetHTTP

/// A message as a transfer and its hop share it. It never changes, so a look at it costs no check of exclusive access.
final class Message: Sendable {
    /// Fields that make a difference to how a message is sent.
    struct Names: OptionSet {
        let rawValue: UInt8

        static let accept = Names(rawValue: 1)
        static let acceptEncoding = Names(rawValue: 1 << 1)
        static let contentType = Names(rawValue: 1 << 2)
        static let cookie = Names(rawValue: 1 << 3)
        static let range = Names(rawValue: 1 << 4)
        /// Those that say where the message ends.
        static let framing = Names(rawValue: 1 << 5)
    }

    let request: TransferRequest
    // Taken out of the request once, as they are looked at time and again.
    let method: HTTPRequest.Method
    /// Empty where there is none.
    let scheme: String
    /// Empty where there is none.
    let authority: String
    let path: String
    /// Which of them its fields have.
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

    /// Its URL on the wire.
    var urlText: String { HTTPRequest.urlText(scheme, authority, path) }

    /// The message with a change.
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

    /// What a field's name is among them. Lengths tell apart nearly all names, in less time than a comparison.
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
