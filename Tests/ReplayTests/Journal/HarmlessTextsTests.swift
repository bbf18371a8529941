import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

@Suite struct HarmlessTextsTests {
    @Test func aTextIsKnownUnderItsNameAlone() {
        let texts = HarmlessTexts()
        #expect(!texts.contain("nginx", .field("Server")))
        texts.insert("nginx", .field("Server"))
        #expect(texts.contain("nginx", .field("Server")))
        #expect(!texts.contain("nginx", .url) && !texts.contain("nginx", .text))
        #expect(!texts.contain("nginx", .field("server")) && !texts.contain("nginy", .field("Server")))
    }

    @Test func twoThatHaveTheSamePlaceAreBothKnown() {
        let texts = HarmlessTexts()
        for value in ["xa", "ya", "za"] { texts.insert(value, .field("A")) }
        #expect(["xa", "ya", "za"].map { texts.contain($0, .field("A")) } == [false, true, true])
    }

    /// The sign of the kelvin and the letter are equal as texts.
    @Test func textsOfOtherBytesAreOthers() {
        let texts = HarmlessTexts()
        // So many that both have the same place.
        let letters = String(repeating: "K", count: 128) + "x"
        let signs = String(repeating: "\u{212A}", count: 128) + "x"
        texts.insert(letters, .field("a"))
        #expect(letters == signs && texts.contain(letters, .field("a")) && !texts.contain(signs, .field("a")))
        texts.insert("\u{212A}", .field("b"))
        #expect(!texts.contain("\u{212A}", .field("b")))
    }

    @Test func anotherRedactorKnowsNothing() {
        let texts = HarmlessTexts()
        texts.insert("x", .field("X-Nick"))
        texts.use(Redactor())
        #expect(texts.contain("x", .field("X-Nick")))
        texts.use(Redactor(secrets: ["x-nick"]))
        #expect(!texts.contain("x", .field("X-Nick")))
    }

    @Test func longTextsAreNotKept() {
        let texts = HarmlessTexts()
        texts.insert(String(repeating: "a", count: 257), .field("a"))
        #expect(!texts.contain(String(repeating: "a", count: 257), .field("a")))
        let name = String(repeating: "a", count: 257)
        texts.insert("a", .field(name))
        #expect(!texts.contain("a", .field(name)))
    }

    /// Each is looked at once, and only what stays as it is counts as harmless.
    @Test func anEntryIsRedactedTheSameAgain() {
        let texts = HarmlessTexts()
        var entry = LogEntry.sample()
        entry.request.url = "https://api.example/a?token=abcdefgh"
        entry.request.fields = [LoggedField("Accept", "*/*"), LoggedField("Authorization", "Bearer abcdefgh")]
        entry.error = "connect: password=abcdefgh"
        let shown = (0..<2).map { _ in
            var redaction = EntryRedaction(redactor: Redactor(), harmless: texts)
            return redaction.redacted(entry)
        }
        #expect(shown[0] == entry.redacted(by: Redactor()) && shown[1] == shown[0])
        #expect(!"\(shown)".contains("abcdefgh"))
        #expect(texts.contain("*/*", .field("Accept")) && !texts.contain("Bearer abcdefgh", .field("Authorization")))
    }
}
