import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation
import Testing

/// `URL(string:)` returns different results in a process that links Foundation. URLs on the wire must be the same.
struct LinkageTests {
    private static let texts = [
        "http://bücher.de/ü", "http://BÜCHER.de/", "http://b%C3%BCcher.de/", "http://xn--bcher-kva.de/", "http://a b/",
        "http://a%20b/", "http://h /", "http://h\\/", "http://a<b/", "http://ﬁ.net/", "http://ｅx.com/a", "http://a。b/",
        "http://bu\u{308}cher.de", "http://faß.de", "http://a\u{200D}b/", "http://☃.net/", "http://xn--a-ä.de",
        "http://한국.kr",
        "http://[::1]:80/a", "http://[h]/", "http://h:99999/", "http://h:x/", "http://h/a|b%20?c d%2F",
        "127.0.0.1:80/x",
        "http://h/%zz%20", "a b:c", "/home", "localhost:80/x", "http://u:p@bücher.de/",
    ]

    /// The URL of a request to this text.
    private func wireURL(_ text: String) -> String {
        do throws(NetworkError) {
            let request = Request(url: try UrlBuilder().url(for: text), type: .fetchImage)
            return try HttpRequestBuilder().build(request).head.urlText
        } catch {
            return error.message
        }
    }

    @Test func urlsAreTheSameWithAndWithoutFoundation() async throws {
        // The premise: this process links Foundation and the other doesn't.
        #expect(URL(string: "http://bücher.de/")?.absoluteString == "http://xn--bcher-kva.de/")
        let run = try await BeagleProcess(["urls"] + Self.texts, program: "OutboxProbe").outcome()
        #expect(run.exit == 0)
        #expect(run.lines.count == Self.texts.count)
        for (text, line) in zip(Self.texts, run.lines) { #expect(line == wireURL(text), "\(text)") }
    }
}
