import BeagleNetHTTP

extension FuzzTarget {
    /// The first byte selects the type, the second the size of the pieces and the third the mode. The result doesn't
    /// depend on the pieces, and a secret in JSON or in a form is redacted regardless of the bytes before it.
    static func fuzzBody(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 3 else { return }
        let types: [String?] = [
            "application/json", "application/x-www-form-urlencoded", "text/plain", "text/event-stream", "text/html",
            "application/graphql", "multipart/mixed; boundary=b", nil,
        ]
        let type = types[Int(bytes[0]) % types.count]
        let modes: [Redactor.Mode] = [.mask, .drop, .hash(Redactor.Key(Data("0123456789abcdef".utf8)))]
        let redactor = Redactor(mode: modes[Int(bytes[2]) % modes.count])
        let body = Data(bytes.dropFirst(3))
        let whole = redactor.redact(body: body, contentType: type)
        precondition(redacted(body, type, size: Int(bytes[1]) + 1, redactor) == whole, "a body depends on its pieces")
        let secret = Data("tOpSeCrEt".utf8)
        if body.firstRange(of: secret) != nil { return }
        for (type, before, behind) in [
            ("application/json", "{\"a\":", ",\"pin\":\"tOpSeCrEt\"}"),
            ("application/x-www-form-urlencoded", "", "&pin=tOpSeCrEt"),
        ] {
            let body = Data(before.utf8) + body + Data(behind.utf8)
            let data = redactor.redact(body: body, contentType: type).data
            precondition(data?.firstRange(of: secret) == nil, "a redacted body contains its secret")
        }
    }

    private static func redacted(_ body: Data, _ type: String?, size: Int, _ base: Redactor) -> Redactor.RedactedBody {
        var redactor = Redactor.BodyRedactor(base, contentType: type)
        var output = Data()
        var rest = body
        while !rest.isEmpty {
            output += redactor.feed(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        output += redactor.finish()
        return redactor.unredactable.map { .omitted($0) } ?? .body(output)
    }
}
