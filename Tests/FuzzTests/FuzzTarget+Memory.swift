@testable import BeagleNetCurl
@testable import BeagleNetHTTP

extension FuzzTarget {
    /// A line each: `Set-Cookie` of one host's answers. What comes of it goes to that site alone, and breaks no line.
    static func fuzzCookie(_ text: String) {
        let jar = CookieJar { Date(timeIntervalSince1970: 1_700_000_000) }
        let setter = HTTPRequest(method: .get, scheme: "https", authority: "www.example.com", path: "/a/b")
        var fields = HTTPFields()
        for line in text.unicodeScalars.split(separator: "\n").prefix(20) {
            fields.append(HTTPField(name: .setCookie, value: String(line)))
        }
        jar.take(from: fields, of: setter)
        for cookie in jar.cookies {
            precondition(
                cookie.domain == "www.example.com" || cookie.domain == "example.com",
                "a cookie of \(cookie.domain)"
            )
            precondition(cookie.path.utf8.first == UInt8(ascii: "/"), "a cookie of the path \(cookie.path)")
        }
        for host in ["www.example.com", "example.com", "example.org", "com", "127.0.0.1"] {
            let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/a/b")
            guard let field = jar.field(for: head, own: nil) else { continue }
            precondition(host.hasSuffix("example.com"), "a cookie went to \(host)")
            precondition(HTTPField.isValidValue(field), "a cookie breaks its line")
        }
        _ = CookieDate.seconds(text)
        _ = TransportSecurity(text)
    }

    /// The first byte chooses status and scheme, the rest is the `Location`. Wherever it leads, nothing secret goes along.
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
        // One that is percent-encoded may be the same host.
        if next.authority?.contains("%") == false, Origin(of: next) != Origin(of: head) {
            precondition(next.headerFields.allSatisfy { $0.value != "tOpSeCrEt" }, "a cookie went along")
            precondition(next.headerFields[.authorization] == nil, "a token went along")
        }
        guard (try? MessageCheck.check(TransferRequest(next))) != nil else { return }
        precondition(next.authority?.contains("@") == false, "a redirect to \(next.authority ?? "nowhere")")
    }

    /// An `Alt-Svc` field. What comes of it counts for that origin alone, is little, and breaks no line of libcurl's.
    static func fuzzAltSvc(_ text: String) {
        let store = AltSvcStore { Date(timeIntervalSince1970: 1_700_000_000) }
        let asker = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
        let answer = HTTPResponse(status: .ok, headerFields: HTTPFields([HTTPField(name: .altSvc, value: text)]))
        store.take(from: answer, of: asker)
        let services = store.services
        precondition(services.count <= 8, "\(services.count) services")
        for service in services {
            precondition(service.origin == Origin(of: asker), "a service of \(service.origin)")
            precondition(service.problem == nil, "a service that cannot be asked: \(service.problem ?? "")")
            precondition(!service.field.value.contains { $0.isWhitespace }, "a service breaks its line")
        }
        for origin in ["https example.org", "https example.com:8443", "http example.com"] {
            let parts = origin.split(separator: " ").map(String.init)
            let head = HTTPRequest(method: .get, scheme: parts[0], authority: parts[1], path: "/")
            precondition(store.service(for: head) { _ in true } == nil, "a service of \(origin)")
        }
    }

    /// A `WWW-Authenticate` field, as it may come in a head. Its answer breaks no line.
    static func fuzzChallenge(_ text: String) {
        guard HTTPField.isValidValue(text) else { return }
        for challenge in Challenge.read(text) {
            guard let digest = DigestChallenge(challenge) else { continue }
            let head = HTTPRequest(method: .get, scheme: "http", authority: "example.com", path: "/a?b")
            let credentials = Credentials(user: "user", password: "tOpSeCrEt")
            guard let answer = try? digest.answer(to: head, as: credentials, count: 1) else { continue }
            precondition(HTTPField.isValidValue(answer), "an answer breaks its line")
            precondition(!answer.contains("tOpSeCrEt"), "an answer holds the password")
        }
        _ = Netrc.credentials(for: "example.com", of: text)
    }
}
