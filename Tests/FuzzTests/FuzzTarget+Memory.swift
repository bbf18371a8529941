@testable import BeagleNetCurl
@testable import BeagleNetHTTP

extension FuzzTarget {
    /// Each line is a `Set-Cookie` field of one host. The cookies are sent only to that site, and contain no line
    /// breaks.
    static func fuzzCookie(_ text: String) {
        let jar = CookieJar { Date(timeIntervalSince1970: 1_700_000_000) }
        let setter = HTTPRequest(method: .get, scheme: "https", authority: "www.example.com", path: "/a/b")
        var fields = HTTPFields()
        for line in text.unicodeScalars.split(separator: "\n").prefix(20) {
            fields.append(HTTPField(name: .setCookie, value: String(line)))
        }
        jar.store(from: fields, of: setter)
        for cookie in jar.cookies {
            precondition(
                cookie.domain == "www.example.com" || cookie.domain == "example.com",
                "a cookie for the domain \(cookie.domain)"
            )
            precondition(cookie.path.utf8.first == UInt8(ascii: "/"), "a cookie for the path \(cookie.path)")
        }
        for host in ["www.example.com", "example.com", "example.org", "com", "127.0.0.1"] {
            let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/a/b")
            guard let field = jar.field(for: head, own: nil) else { continue }
            precondition(host.hasSuffix("example.com"), "a cookie was sent to \(host)")
            precondition(HTTPField.isValidValue(field), "a cookie contains a line break")
        }
        _ = CookieDate.seconds(text)
        _ = TransportSecurity(text)
    }

    /// The first byte selects the status and scheme, and the rest is the `Location`. No secrets are sent to another
    /// origin.
    static func fuzzRedirect(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        let location = String(decoding: bytes.dropFirst(), as: UTF8.self)
        let scheme = first & 1 == 0 ? "https" : "http"
        let statuses: [HTTPResponse.Status] = [
            .movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect,
        ]
        let status = statuses[Int(first >> 1) % statuses.count]
        let head = HTTPRequest(
            method: .post,
            scheme: scheme,
            authority: "example.com",
            path: "/a/b?c",
            headerFields: [.authorization: "Bearer tOpSeCrEt", .cookie: "tOpSeCrEt"]
        )
        let answer = RawHead(HTTPResponse(status: status, headerFields: [.location: location]))
        let request = TransferRequest(head, body: HTTPBody("body"))
        guard let next = try? Redirect.next(after: answer, to: request, followed: 0)?.head else { return }
        precondition(
            next.scheme == "https" || (next.scheme == "http" && scheme == "http"),
            "a redirect to \(next.scheme ?? "")"
        )
        // A percent-encoded host may be the same one.
        if next.authority?.contains("%") == false, Origin(of: next) != Origin(of: head) {
            precondition(
                next.headerFields.allSatisfy { $0.value != "tOpSeCrEt" },
                "a cookie was sent to another origin"
            )
            precondition(next.headerFields[.authorization] == nil, "a token was sent to another origin")
        }
        guard (try? MessageCheck.check(TransferRequest(next))) != nil else { return }
        precondition(next.authority?.contains("@") == false, "a redirect to \(next.authority ?? "nowhere")")
    }

    /// The input is an `Alt-Svc` field. Its services apply only to their origin, are few, and contain no line breaks.
    static func fuzzAltSvc(_ text: String) {
        let store = AltSvcStore { Date(timeIntervalSince1970: 1_700_000_000) }
        let asker = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
        let answer = HTTPResponse(status: .ok, headerFields: HTTPFields([HTTPField(name: .altSvc, value: text)]))
        store.store(from: answer, of: asker)
        let services = store.services
        precondition(services.count <= 8, "\(services.count) services")
        for service in services {
            precondition(service.origin == Origin(of: asker), "a service for \(service.origin)")
            precondition(service.problem == nil, "an invalid service: \(service.problem ?? "")")
            precondition(!service.field.value.contains { $0.isWhitespace }, "a service contains white space")
        }
        for origin in ["https example.org", "https example.com:8443", "http example.com"] {
            let parts = origin.split(separator: " ").map(String.init)
            let head = HTTPRequest(method: .get, scheme: parts[0], authority: parts[1], path: "/")
            precondition(store.service(for: head) { _ in true } == nil, "a service for \(origin)")
        }
    }

    /// The input is a `WWW-Authenticate` field of a head. The `Authorization` field for it contains no line breaks.
    static func fuzzChallenge(_ text: String) {
        guard HTTPField.isValidValue(text) else { return }
        for challenge in Challenge.read(text) {
            guard let digest = DigestChallenge(challenge) else { continue }
            let head = HTTPRequest(method: .get, scheme: "http", authority: "example.com", path: "/a?b")
            let credentials = Credentials(user: "user", password: "tOpSeCrEt")
            guard let answer = try? digest.authorization(for: head, as: credentials, nonceCount: 1) else { continue }
            precondition(HTTPField.isValidValue(answer), "an Authorization field contains a line break")
            precondition(!answer.contains("tOpSeCrEt"), "an Authorization field contains the password")
        }
        _ = Netrc.credentials(for: "example.com", of: text)
    }
}
