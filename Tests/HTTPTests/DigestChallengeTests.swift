import Testing

@testable import BeagleNetHTTP

struct DigestChallengeTests {
    private func read(_ fields: String...) -> DigestChallenge? {
        var all = HTTPFields()
        for field in fields { all.append(HTTPField(name: HTTPField.Name("WWW-Authenticate")!, value: field)) }
        return DigestChallenge(of: all)
    }

    private static let obstacleExplainsAnUnsupportedChallengeArguments: [([String], String?)] = [
        (["Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\""], "qop=auth-int"),
        (["Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512-256, qop=\"auth\""], "the algorithm SHA-512-256;"),
        (["Digest realm=\"r\", nonce=\"n\", algorithm=\"a b\""], "an unknown algorithm;"),
        (["Digest nonce=\"n\""], "lacks a realm"),
        (["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=auth-int"], "qop=auth-int"),
        (["Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"", "Digest realm=\"r\", nonce=\"n\""], nil),
        (["Digest realm=\"r\", nonce=\"n\", qop=\"auth, auth-int\""], nil), (["Basic realm=\"r\""], nil), ([], nil),
    ]

    @Test(arguments: Self.obstacleExplainsAnUnsupportedChallengeArguments)
    func obstacleExplainsAnUnsupportedChallenge(_ challenges: [String], _ reason: String?) {
        var fields = HTTPFields()
        for challenge in challenges {
            fields.append(HTTPField(name: HTTPField.Name("WWW-Authenticate")!, value: challenge))
        }
        let unsupportedReason = DigestChallenge.unsupportedReason(in: fields)
        #expect((unsupportedReason == nil) == (reason == nil))
        if let reason { #expect(unsupportedReason?.contains(reason) == true, "\(unsupportedReason ?? "")") }
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let challenge: String
        var user = "Mufasa"
        var password = "Circle of Life"
        let word: String
        let parts: [String]
    }

    private static let example = """
        realm="http-auth@example.org", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", \
        opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """
    private static let word = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    static let answers = [
        Answer(
            testDescription: "RFC 7616, 3.9.1, MD5",
            challenge: "Digest qop=\"auth, auth-int\", algorithm=MD5, \(example)",
            word: word,
            parts: [
                "response=\"8ca523f5e9506fed4657c9700eebdbec\"", "algorithm=MD5", "nc=00000001", "qop=auth",
                "username=\"Mufasa\"", "uri=\"/dir/index.html\"", "cnonce=\"\(word)\"",
                "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"",
            ]
        ),
        Answer(
            testDescription: "RFC 7616, 3.9.1, SHA-256",
            challenge: "Digest qop=\"auth, auth-int\", algorithm=SHA-256, \(example)",
            word: word,
            parts: [
                "response=\"753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1\"", "algorithm=SHA-256",
            ]
        ),
        Answer(
            testDescription: "RFC 2617, 3.5",
            challenge: """
                Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"
                """,
            password: "Circle Of Life",
            word: "0a4f113b",
            parts: ["response=\"6629fae49393a05397450978507c4ef1\""]
        ),
        Answer(
            testDescription: "RFC 2069, without qop",
            challenge: "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"",
            password: "Circle Of Life",
            word: "unused",
            parts: ["response=\"670fd8c2df070c60b045671b8b24ff02\""]
        ),
        Answer(
            testDescription: "MD5-sess",
            challenge: "Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=md5-SESS",
            word: "w",
            parts: ["response=\"2b63090be25377627b0d75db725c0b0a\"", "algorithm=MD5-sess", "cnonce=\"w\""]
        ),
        Answer(
            testDescription: "RFC 7616, 3.4.4: hidden user",
            challenge: "Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=SHA-256, userhash=true",
            word: "w",
            parts: ["userhash=true", "username=\"8ec3e1d647d8bd2ae7115a19b5155727c083dd356e9e6fa526b1188461f18acf\""]
        ),
        Answer(
            testDescription: "names with quotes and letters beyond ASCII",
            challenge: "Digest realm=\"a \\\"b\\\\\", nonce=\"n\"",
            user: "Jäs\"on",
            word: "w",
            parts: ["realm=\"a \\\"b\\\\\"", "username*=UTF-8''J%C3%A4s%22on"]
        ),
    ]

    @Test(arguments: answers) func fieldForAChallengeIsComputed(_ answer: Answer) throws {
        let challenge = try #require(read(answer.challenge))
        let head = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/dir/index.html")
        let credentials = Credentials(user: answer.user, password: answer.password)
        let field = try challenge.authorization(for: head, as: credentials, nonceCount: 1, clientNonce: answer.word)
        #expect(field.hasPrefix("Digest "))
        for part in answer.parts { #expect(field.contains(part), "\(field)") }
        #expect(!field.contains(answer.password))
    }

    @Test func countIsWrittenInEightDigits() throws {
        let challenge = try #require(read("Digest realm=\"r\", nonce=\"n\", qop=auth"))
        let head = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/")
        let credentials = Credentials(user: "u", password: "p")
        #expect(try challenge.authorization(for: head, as: credentials, nonceCount: 0x1F).contains("nc=0000001f,"))
        let words = try (1...2).map { try challenge.authorization(for: head, as: credentials, nonceCount: $0) }
        #expect(words[0] != words[1])
    }

    @Test func bestAlgorithmIsChosen() {
        let md5 = "Digest realm=\"r\", nonce=\"1\", algorithm=MD5"
        let sha = "Digest realm=\"r\", nonce=\"2\", algorithm=SHA-256"
        #expect(read(md5, sha)?.nonce == "2")
        #expect(read("Basic realm=\"x\", \(sha), \(md5)")?.nonce == "2")
        #expect(read("\(md5), Digest realm=\"r\", nonce=\"3\", algorithm=SHA-512-256")?.nonce == "1")
    }

    private static let unsupportedChallengeIsIgnoredArguments: [String] = [
        "Basic realm=\"r\"", "Digest", "Digest realm=\"r\"", "Digest nonce=\"n\"", "",
        "Digest realm=\"r\", nonce=\"n\", algorithm=odd", "Digest realm=\"r\", nonce=\"n\", qop=auth-int",
        "realm=\"r\", nonce=\"n\"", "Digest realm=\"r, nonce=\"n\"", "Digest realm=\"r\" nonce=\"n",
    ]

    @Test(arguments: Self.unsupportedChallengeIsIgnoredArguments)
    func unsupportedChallengeIsIgnored(_ field: String) {
        #expect(read(field) == nil)
    }

    /// RFC 9110, 11.6.1, and fields that servers send in practice.
    @Test func challengesOfOneFieldAreSeparated() {
        #expect(
            Challenge.read("Basic realm=\"simple, \\\"x\\\"\" , ,Newauth realm=\"apps\", type = 1,\ttitle=\"L=1\"")
                == [
                    Challenge(scheme: "basic", parameters: ["realm": "simple, \"x\""]),
                    Challenge(scheme: "newauth", parameters: ["realm": "apps", "type": "1", "title": "L=1"]),
                ]
        )
        #expect(
            Challenge.read("Negotiate, NTLM abc/+==, Bearer a=b")
                == [
                    Challenge(scheme: "negotiate"), Challenge(scheme: "ntlm"),
                    Challenge(scheme: "bearer", parameters: ["a": "b"]),
                ]
        )
        #expect(Challenge.read("Digest realm=a, realm=b") == [Challenge(scheme: "digest", parameters: ["realm": "a"])])
    }

    /// Realm, nonce and opaque are sent back unchanged, and the unchanged bytes are hashed.
    @Test func bytesThatAreNotUTF8AreSentBackUnchanged() throws {
        let field = Array("Digest realm=\"caf".utf8) + [0xE9] + Array("\", nonce=\"n".utf8) + [0xFC] + Array("\"".utf8)
        let name = try #require(HTTPField.Name("WWW-Authenticate"))
        let challenge = try #require(DigestChallenge(of: HTTPFields([HTTPField(name: name, value: field)])))
        let head = HTTPRequest(method: .get, scheme: "http", authority: "h.org", path: "/")
        let answer = try challenge.authorization(for: head, as: Credentials(user: "u", password: "p"), nonceCount: 1)
        let bytes = Data(answer.opaqueBytes)
        #expect(bytes.firstRange(of: Data("realm=\"caf".utf8) + [0xE9, 0x22]) != nil)
        #expect(bytes.firstRange(of: Data("nonce=\"n".utf8) + [0xFC, 0x22]) != nil)
        #expect(answer.contains("response=\"583216a7e81da4503e62e17671a326c5\""), "\(answer)")
    }
}
