import BeagleNetHTTP

/// A list of header fields under construction, in which a later field replaces an earlier one of the same name,
/// ignoring case.
struct HeaderList {
    private(set) var fields = HTTPFields()

    init() {
        fields.reserveCapacity(8)
    }

    /// Adds a valid default field, before any other field of its name.
    mutating func add(_ field: HTTPField) {
        fields.append(field)
    }

    /// Adds a default field with a value from the app, before any other field of its name.
    mutating func add(_ name: HTTPField.Name, checking value: String) throws(NetworkError) {
        try Self.check(name, value)
        add(HTTPField(name: name, value: value))
    }

    /// Adds a default field with its usual value or another value from the app, before any other field of its name.
    mutating func add(_ usual: HTTPField, or value: String) throws(NetworkError) {
        if value == usual.value { add(usual) } else { try add(usual.name, checking: value) }
    }

    /// Sets a field whose name comes from the app or a server.
    ///
    /// An invalid field is rejected first, because `HTTPField` would silently repair it.
    mutating func set(_ name: String, _ value: String) throws(NetworkError) {
        let name = try Self.check(name, value)
        // A cookie becomes a field for each of its pairs. Other fields are mostly new, and appending them is faster.
        if name == .cookie || fields.contains(name) {
            fields[name] = value
        } else {
            fields.append(HTTPField(name: name, opaqueValue: value))
        }
    }

    /// Sets fields in the order of their names.
    mutating func set(_ headers: [String: String]) throws(NetworkError) {
        if headers.isEmpty { return }
        // A single header needs no sorting, which creates two arrays.
        guard headers.count > 1 else {
            if let (name, value) = headers.first { try set(name, value) }
            return
        }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { try set(name, value) }
    }

    /// Adds a field; if the name exists, the values are joined to a list under the first spelling.
    mutating func add(_ name: String, _ value: String) throws(NetworkError) {
        let checked = try Self.check(name, value)
        let present = fields[fields: checked].first
        fields[present?.name ?? checked] = present.map { "\($0.value),\(value)" } ?? value
    }

    mutating func remove(_ name: HTTPField.Name) {
        if fields.contains(name) { fields[name] = nil }
    }

    /// Returns the name of a field that may be sent (RFC 9110, 5.1 and 5.5); errors quote the name, never the value.
    private static func check(_ name: String, _ value: String) throws(NetworkError) -> HTTPField.Name {
        guard let checked = HTTPField.Name(name) else {
            // The name may be a complete field by mistake, so only its beginning is quoted.
            let start = String(name.prefix { $0 != ":" && $0 != " " })
            throw .badRequest(
                name.isEmpty ? "a header has no name" : "\(start.debugDescription)… is not a header name",
                "use letters, digits and hyphens"
            )
        }
        if hasReservedLength(checked), let reason = reserved[checked] {
            throw .badRequest("the header \(name) cannot be set", reason)
        }
        try check(checked, value)
        return checked
    }

    private static func check(_ name: HTTPField.Name, _ value: String) throws(NetworkError) {
        guard HTTPField.isSendable(value) else {
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

    /// Returns whether a name has the length of a reserved one, which is cheaper to check than a dictionary lookup.
    private static func hasReservedLength(_ name: HTTPField.Name) -> Bool {
        let length = name.canonicalName.utf8.count
        return length < UInt32.bitWidth && reservedLengths & 1 << UInt32(length) != 0
    }

    private static let reservedLengths = reserved.keys.reduce(0 as UInt32) { lengths, name in
        lengths | 1 << UInt32(name.canonicalName.utf8.count)
    }

    /// The fields that frame the message or belong to the connection (RFC 9110, 7.2 and 7.6.1; RFC 9112, 6), with
    /// advice.
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
