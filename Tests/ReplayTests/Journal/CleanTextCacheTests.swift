import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

struct CleanTextCacheTests {
    @Test func fieldValueIsCachedForItsName() {
        let texts = CleanTextCache()
        #expect(!texts.contains("nginx", .field, name: "Server"))
        texts.insert("nginx", .field, name: "Server")
        #expect(texts.contains("nginx", .field, name: "Server"))
        #expect(!texts.contains("nginx", .url) && !texts.contains("nginx", .text))
        #expect(!texts.contains("nginx", .field, name: "server") && !texts.contains("nginy", .field, name: "Server"))
    }

    @Test func textIsCachedForItsKind() {
        let texts = CleanTextCache()
        texts.insert("/a?k=b", .text)
        #expect(texts.contains("/a?k=b", .text) && !texts.contains("/a?k=b", .url) && !texts.contains("/a?k=b", .field))
        texts.insert("/b", .url)
        #expect(texts.contains("/b", .url) && !texts.contains("/b", .text) && !texts.contains("/b", .field))
    }

    @Test func twoTextsWithTheSameSlotAreBothCached() {
        let texts = CleanTextCache()
        for value in ["xaz", "xbz", "xcz"] { texts.insert(value, .field, name: "A") }
        #expect(["xaz", "xbz", "xcz"].map { texts.contains($0, .field, name: "A") } == [false, true, true])
    }

    /// Slots come in pairs: two texts in one pair must not evict each other repeatedly.
    @Test func twoTextsWithNeighboringSlotsAreBothCached() {
        let texts = CleanTextCache()
        let values = "abcdefghijklmnopqrstuvwxyz".map { "\($0)." }
        for (value, next) in zip(values, values.dropFirst()) {
            for _ in 0..<2 {
                texts.insert(value, .field, name: "A")
                texts.insert(next, .field, name: "A")
            }
            #expect(texts.contains(value, .field, name: "A") && texts.contains(next, .field, name: "A"))
        }
    }

    /// The Kelvin sign and the letter K are equal as strings, but have different bytes.
    @Test func equalTextsWithDifferentBytesAreDistinct() {
        let texts = CleanTextCache()
        // Long enough that both have the same slot.
        let letters = "x" + String(repeating: "K", count: 128) + "x"
        let signs = "x" + String(repeating: "\u{212A}", count: 128) + "x"
        texts.insert(letters, .field, name: "a")
        #expect(
            letters == signs && texts.contains(letters, .field, name: "a") && !texts.contains(signs, .field, name: "a")
        )
        texts.insert("\u{212A}", .field, name: "b")
        #expect(!texts.contains("\u{212A}", .field, name: "b"))
    }

    @Test func differentRedactorClearsTheCache() {
        let texts = CleanTextCache()
        texts.insert("x", .field, name: "X-Nick")
        texts.use(Redactor())
        #expect(texts.contains("x", .field, name: "X-Nick"))
        texts.use(Redactor(secrets: ["x-nick"]))
        #expect(!texts.contains("x", .field, name: "X-Nick"))
    }

    @Test func longTextsAreNotCached() {
        let texts = CleanTextCache()
        texts.insert(String(repeating: "a", count: 257), .field, name: "a")
        #expect(!texts.contains(String(repeating: "a", count: 257), .field, name: "a"))
        let name = String(repeating: "a", count: 257)
        texts.insert("a", .field, name: name)
        #expect(!texts.contains("a", .field, name: name))
    }

    /// Each text is redacted once, and only unchanged texts are cached.
    @Test func entryIsRedactedEquallyWithACache() {
        let texts = CleanTextCache()
        var entry = LogEntry.sample()
        entry.request.url = "https://api.example/a?token=abcdefgh"
        entry.request.fields = [LogEntry.Field("Accept", "*/*"), LogEntry.Field("Authorization", "Bearer abcdefgh")]
        entry.error = "connect: password=abcdefgh"
        let shown = (0..<2).map { _ in
            var redaction = EntryRedaction(redactor: Redactor(), cleanTexts: texts)
            var entry = entry
            redaction.redact(&entry)
            return entry
        }
        #expect(shown[0] == entry.redacted(by: Redactor()) && shown[1] == shown[0])
        #expect(!"\(shown)".contains("abcdefgh"))
        #expect(
            texts.contains("*/*", .field, name: "Accept")
                && !texts.contains("Bearer abcdefgh", .field, name: "Authorization")
        )
    }
}
