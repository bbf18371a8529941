import BeagleNetReplay
import Foundation

/// The first minute of an app, with typical failures.
enum SampleRecording {
    static let secret = "tOpSeCrEt"
    /// Runs a script if it is inserted into a page unescaped.
    static let attack =
        #"</script><script>document.title="pwned"</script><img src=x onerror="document.title='pwned'">'"&<!--"#

    static let start = Date(timeIntervalSince1970: 1_795_335_330)

    static let recording = Recording(
        entries,
        warnings: [Recording.Warning(file: "000001.jsonl", offset: 9, reason: attack)]
    )

    static func exchange(
        _ url: String,
        method: String = "GET",
        at milliseconds: Double,
        status: Int = 200,
        fields: [LogEntry.Field] = [],
        body: LogEntry.Body = LogEntry.Body(),
        wait: Int = 40,
        isNew: Bool = false,
        kind: String? = "component"
    ) -> LogEntry {
        LogEntry(
            id: "s-\(Int(milliseconds))",
            started: start + milliseconds / 1000,
            request: LogEntry.Request(
                method: method,
                url: url,
                httpVersion: "HTTP/2",
                fields: [LogEntry.Field("User-Agent", "BeagleNet/0.1.0"), LogEntry.Field("Accept", "*/*")],
                headBytes: 120,
                bodyBytes: 0
            ),
            response: LogEntry.Response(
                status: status,
                statusText: status == 200 ? "OK" : "",
                httpVersion: "HTTP/2",
                fields: fields,
                body: body,
                headBytes: 200,
                bodyBytes: body.size
            ),
            timings: LogEntry.Timings(
                blocked: .milliseconds(1),
                dns: isNew ? .milliseconds(8) : nil,
                connect: isNew ? .milliseconds(45) : nil,
                tls: isNew ? .milliseconds(30) : nil,
                send: .microseconds(500),
                wait: .milliseconds(wait),
                receive: .milliseconds(wait / 4)
            ),
            serverAddress: "203.0.113.9",
            connection: "1",
            kind: kind
        )
    }

    static func json(_ text: String) -> LogEntry.Body {
        LogEntry.Body(.data(Data(text.utf8)), mediaType: "application/json")
    }

    static let entries: [LogEntry] = {
        let api = "https://api.example.com"
        var all = [
            exchange(
                "\(api)/home",
                at: 0,
                fields: [
                    LogEntry.Field("Content-Type", "application/json"),
                    LogEntry.Field("Set-Cookie", "id=REDACTED; Path=/"),
                ],
                body: json(
                    #"{"_beagleComponent_":"beagle:screenComponent","price":1.10,"big":12345678901234567890123,"a":[]}"#
                ),
                isNew: true
            ),
            exchange("https://cdn.example.com/hero.png", at: 130, body: image, wait: 120, isNew: true, kind: "image"),
            exchange("https://cdn.example.com/icon.svg", at: 133, body: svg, wait: 60, kind: "image"),
            exchange(
                "\(api)/offers?token=\(secret)&page=1",
                at: 140,
                body: json(#"{"text":"\#(escapedAttack)"}"#),
                wait: 300
            ),
            exchange("\(api)/old", at: 470, status: 301, wait: 20),
            exchange(
                "\(api)/login",
                method: "POST",
                at: 9_000,
                status: 422,
                body: json(#"{"errors":[{"field":"email"}]}"#),
                kind: "form"
            ),
            exchange("\(api)/graphql", method: "POST", at: 9_400, body: json(#"{"data":null}"#), kind: "query"),
            exchange("\(api)/profile", at: 9_500, wait: 0),
            exchange("\(api)/slow", at: 9_600, status: 503, wait: 900),
        ]
        all[4].response?.redirectURL = "\(api)/new?token=\(secret)"
        all[5].request.body = json(#"{"email":"ana@example.com","password":"REDACTED"}"#)
        all[5].request.fields.append(LogEntry.Field("Authorization", "Bearer \(secret)"))
        all[5].redactions = ["postData.text:$.password"]
        all[6].operationName = "Offers"
        all[7].isFromStore = true
        var dead = LogEntry(
            id: "s-dead",
            started: start + 9.7,
            request: LogEntry.Request(method: "GET", url: "\(api)/down\(attack)"),
            timings: LogEntry.Timings(connect: .milliseconds(2000)),
            error: "timeout: nothing came \(attack)",
            kind: "raw"
        )
        dead.parent = "s-9600"
        dead.attempt = 2
        var talk = exchange("https://api.example.com/talk", at: 60_000, status: 101, wait: 30, kind: "raw")
        talk.messages = [
            LogEntry.Message(.send, at: start + 60.1, Data("hello".utf8)),
            LogEntry.Message(.receive, at: start + 60.2, Data(attack.utf8)),
            LogEntry.Message(.receive, at: start + 60.3, opcode: 2, Data([0, 255])),
        ]
        var gone = exchange("https://api.example.com/gone", at: 60_500, kind: nil)
        gone.response = nil
        gone.isInterrupted = true
        return all + [dead, talk, gone]
    }()

    private static var escapedAttack: String { attack.replacing("\"", with: "\\\"") }

    private static let svg = LogEntry.Body(
        .data(
            Data(
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="120" height="60"><rect width="120" height="60" rx="8" \
                fill="#4f8ff7"/><script>document.title="pwned"</script></svg>
                """.utf8
            )
        ),
        mediaType: "image/svg+xml"
    )

    /// 1 × 1 pixel.
    private static let image = LogEntry.Body(
        .data(
            Data(
                base64Encoded:
                    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
            ) ?? Data()
        ),
        mediaType: "image/png"
    )
}
