import BeagleNetHTTP
import Testing

struct MediaTypeTests {
    private static let typeAndParametersAreParsedArguments: [(String, String, [String: String])] = [
        ("text/event-stream", "text/event-stream", [:]),
        (" Text/Event-Stream ;Charset=UTF-8", "text/event-stream", ["charset": "UTF-8"]),
        ("multipart/mixed; boundary=-; boundary=b", "multipart/mixed", ["boundary": "-"]),
        (#"multipart/mixed;boundary="a;b\"c" ; x = y"#, "multipart/mixed", ["boundary": #"a;b"c"#, "x": "y"]),
        (#"text/html; charset="x-unknown\"; garbage"#, "text/html", ["charset": #"x-unknown"; garbage"#]),
        ("a/b;;c;=d;e=", "a/b", ["": "d", "e": ""]),
        ("a/b; c=\"\\", "a/b", ["c": "\\"]),
    ]

    /// RFC 9110, 8.3.1.
    @Test(arguments: Self.typeAndParametersAreParsedArguments)
    func typeAndParametersAreParsed(text: String, essence: String, parameters: [String: String]) throws {
        let mediaType = try #require(MediaType(text))
        #expect(mediaType.essence == essence)
        #expect(mediaType.parameters == parameters)
    }

    private static let invalidMediaTypeIsRejectedArguments: [String] = [
        "", " ", "text", "text/", "/html", "text/html/x", "te xt/html", "text/ht\u{301}ml", ";a=b",
    ]

    @Test(arguments: Self.invalidMediaTypeIsRejectedArguments)
    func invalidMediaTypeIsRejected(text: String) {
        #expect(MediaType(text) == nil)
    }
}
