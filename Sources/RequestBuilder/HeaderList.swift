import BeagleNetHTTP

/// Header fields in the making: a later field replaces an earlier one of its name, in whatever case it is written.
struct HeaderList {
    private(set) var fields = HTTPFields()

    init() {
        fields.reserveCapacity(8)
    }

    /// Adds a field of ours, before any other of its name, that we know to be right.
    mutating func add(_ field: HTTPField) {
        fields.append(field)
    }

    /// Adds a field of ours, before any other of its name, with a value that the app chose.
    mutating func add(_ name: HTTPField.Name, checking value: String) throws(NetworkError) {
        try Self.check(name, value)
        add(HTTPField(name: name, value: value))
    }

    /// Adds a field of ours, before any other of its name, with the value that it mostly has or another that the app chose.
    mutating func add(_ usual: HTTPField, or value: String) throws(NetworkError) {
        if value == usual.value { add(usual) } else { try add(usual.name, checking: value) }
    }

    /// Sets a field that a user or server named. `HTTPField` would repair what is wrong without a word, so that it is
    /// refused before.
    mutating func set(_ name: String, _ value: String) throws(NetworkError) {
        let name = try Self.check(name, value)
        // A cookie becomes a field for each of its pairs. All others are mostly new, and told so in less time.
        if name == .cookie || fields.contains(name) {
            fields[name] = value
        } else {
            fields.append(HTTPField(name: name, opaqueValue: value))
        }
    }

    /// Sets fields in the order of their names.
    mutating func set(_ headers: [String: String]) throws(NetworkError) {
        if headers.isEmpty { return }
        // One is in order, and sorting makes two arrays.
        guard headers.count > 1 else {
            if let (name, value) = headers.first { try set(name, value) }
            return
        }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { try set(name, value) }
    }

    /// Adds a field; of a name that is there already it makes a list, under the spelling that came first.
    mutating func add(_ name: String, _ value: String) throws(NetworkError) {
        let checked = try Self.check(name, value)
        let present = fields[fields: checked].first
        fields[present?.name ?? checked] = present.map { "\($0.value),\(value)" } ?? value
    }

    mutating func remove(_ name: HTTPField.Name) {
        if fields.contains(name) { fields[name] = nil }
    }

    /// The name of a field that may be sent (RFC 9110, 5.1 and 5.5). Errors quote the name, never the value.
    private static func check(_ name: String, _ value: String) throws(NetworkError) -> HTTPField.Name {
        guard let checked = HTTPField.Name(name) else {
            // A whole field may have been given for a name.
            let start = String(name.prefix { $0 != ":" && $0 != " " })
            throw .badRequest(
                name.isEmpty ? "a header has no name" : "\(start.debugDescription)… is not a header name",
                "use letters, digits and hyphens"
            )
        }
        if mayBeReserved(checked), let reason = reserved[checked] {
            throw .badRequest("the header \(name) cannot be set", reason)
        }
        try check(checked, value)
        return checked
    }

    private static func check(_ name: HTTPField.Name, _ value: String) throws(NetworkError) {
        guard HTTPField.maySend(value) else {
            throw .badRequest(
                "the value of header \(name.rawName) has a space at the start or end, a line break or a control character",
                "trim or encode the value"
            )
        }
        guard !Expression.occurs(in: value) else {
            throw .badRequest(
                "the value of header \(name.rawName) contains an expression @{…} that was not evaluated",
                "evaluate it before sending the request"
            )
        }
    }

    /// Whether a name is as long as one of the reserved ones: it costs less than a look into the table.
    private static func mayBeReserved(_ name: HTTPField.Name) -> Bool {
        let length = name.canonicalName.utf8.count
        return length < UInt32.bitWidth && reservedLengths & 1 << UInt32(length) != 0
    }

    private static let reservedLengths = reserved.keys.reduce(0 as UInt32) { lengths, name in
        lengths | 1 << UInt32(name.canonicalName.utf8.count)
    }

    /// Fields that frame the message or belong to the connection (RFC 9110, 7.2 and 7.6.1; RFC 9112, 6), with what to
    /// do instead.
    private static let reserved: [HTTPField.Name: String] = {
        let framing = "remove it; it is derived from the body"
        let connection = "remove it; it belongs to the connection"
        var names: [HTTPField.Name: String] = [
            .contentLength: framing, .transferEncoding: framing, .trailer: framing,
            .connection: connection, .upgrade: connection, .te: connection,
        ]
        for name in ["Keep-Alive", "Proxy-Connection", "HTTP2-Settings"].compactMap(HTTPField.Name.init(_:)) {
            names[name] = connection
        }
        if let host = HTTPField.Name("Host") { names[host] = "remove it; it is the URL's host" }
        return names
    }()
}
