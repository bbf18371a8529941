import BeagleNetGraphQL
import BeagleNetTesting
import Testing

/// Malicious texts: each is parsed or rejected, without a crash or a hang.
struct HostileDocumentTests {
    private static let endlessRepetitionIsRejectedArguments: [(String, String)] = [
        ("{", "}"), ("{a", "}"), ("{...", "}"), ("{a(b:[", "])}"), ("{a(b:{c:", "})}"), ("query($a:[", "]){b}"),
        ("[", "]"),
        ("(", ")"), ("@", ""), ("...", ""), ("\"", ""), ("\"\"\"", ""), ("#", ""), ("\u{FEFF}", ""), ("\u{0}", ""),
        ("{a(b:", ")}"), ("$", ""), ("-", ""), ("é", ""), ("\"\\u", ""),
    ]

    @Test(arguments: Self.endlessRepetitionIsRejectedArguments)
    func endlessRepetitionIsRejected(_ open: String, close: String) {
        for count in [1_000, 100_000] {
            let text = String(repeating: open, count: count)
            #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: text) }
            #expect(throws: NetworkError.self) {
                try GraphQLDocument(parsing: text + "a" + String(repeating: close, count: count))
            }
        }
    }

    @Test func nestingHasALimit() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "{a", count: levels) + String(repeating: "}", count: levels)
        }
        #expect(try GraphQLDocument(parsing: nested(200)).operation().responseKeys == ["a"])
        let error = #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: nested(201)) }
        #expect(error?.message.hasSuffix("line 1, column 401: nested deeper than 200 levels") == true)
        for (head, open, close, tail) in [("{a(b:", "[", "]", ")}"), ("query($a:", "[", "]", "){b}")] {
            func nested(_ levels: Int) -> String {
                let open = String(repeating: open, count: levels)
                return head + open + (head == "query($a:" ? "Int" : "") + String(repeating: close, count: levels) + tail
            }
            _ = try GraphQLDocument(parsing: nested(199))
            #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: nested(201)) }
        }
    }

    @Test func everyPrefixIsParsedOrRejected() throws {
        let text = GraphQLParserTests.kitchenSink
        for end in text.unicodeScalars.indices {
            check(String(text[..<end]))
        }
    }

    @Test func megabyteOfRandomBytesIsRejected() {
        var bytes = SeededGenerator(seed: 1)
        let garbage = String(
            decoding: (0..<1_000_000).map { _ in UInt8(truncatingIfNeeded: bytes.next()) },
            as: UTF8.self
        )
        #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: garbage) }
        #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: "{ a(b: \"" + garbage + "\") }") }
    }

    @Test func largeDocumentIsParsed() throws {
        let fields = (0..<100_000).map { "f\($0): a(b: \($0))" }.joined(separator: " ")
        #expect(try GraphQLDocument(parsing: "{ \(fields) }").operation().responseKeys.count == 100_000)
    }

    @Test func longChainOfFragmentsDoesNotOverflowTheStack() throws {
        let chain = (0..<20_000).map { "fragment f\($0) on T { x\($0) ...f\($0 + 1) }" }.joined()
        let end = "fragment f20000 on T { x }"
        #expect(try GraphQLDocument(parsing: "{ ...f0 }" + chain + end).operation().responseKeys.count == 20_001)
        #expect(throws: NetworkError.self) {
            try GraphQLDocument(parsing: "{ ...f0 }" + chain + "fragment f20000 on T { ...f0 }")
        }
    }

    /// Each of these fragments spreads the next one twice: following each spread would take 2^60 steps.
    @Test func fragmentsThatDoubleAreVisitedOnce() throws {
        let chain = (0..<60).map { "fragment f\($0) on T { ...f\($0 + 1) ...f\($0 + 1) }" }.joined()
        let document = try GraphQLDocument(parsing: "{ ...f0 }" + chain + "fragment f60 on T { x }")
        #expect(try document.operation().responseKeys == ["x"])
    }

    @Test func randomlyChangedTextIsParsedOrRejected() {
        let original = Array(GraphQLParserTests.kitchenSink.utf8)
        var noise = SeededGenerator(seed: 42)
        let tokens = [
            "{", "}", "(", ")", "[", "]", ":", "!", "$", "@", "...", "\"", "\"\"\"", "\\", "#", "\n", "on", "1", "-",
            "=", "é",
        ]
        for _ in 0..<3_000 {
            var bytes = original
            for _ in 0...(noise.next() % 4) {
                let place = Int(noise.next() % UInt64(bytes.count))
                switch noise.next() % 4 {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: noise.next())
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: tokens[Int(noise.next() % UInt64(tokens.count))].utf8, at: place)
                default:
                    let end = min(bytes.count, place + Int(noise.next() % 40))
                    bytes.insert(contentsOf: bytes[place..<end], at: Int(noise.next() % UInt64(bytes.count)))
                }
            }
            check(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Parses a text. If it is valid, its minified text must be valid, too, and have the same operations.
    private func check(_ text: String) {
        do throws(NetworkError) {
            let document = try GraphQLDocument(parsing: text)
            let minified = try GraphQLDocument(parsing: document.minified)
            #expect(minified.minified == document.minified)
            #expect(minified.operations.map(\.rootFields) == document.operations.map(\.rootFields))
            #expect(minified.fragments == document.fragments)
        } catch {
            #expect(error.kind == .badRequest && error.message.contains(" at line "), "\(text): \(error)")
        }
    }
}
