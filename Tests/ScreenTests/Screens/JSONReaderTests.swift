import Foundation
import Testing

@testable import BeagleNet
@testable import BeagleNetHTTP

/// All readers of JSON text accept and reject the same texts.
struct JSONReaderTests {
    private static let valid = [
        "0", "-0", "10", "-1.05", "1e5", "1E+05", "0.0e-0", " \t\r\n1 \n", "true", "false", "null", "\"\"",
        #""\"\\\/\b\f\n\r\t""#, #""\u00e9\uD83D\uDE00\ud83dF""#, "\"\u{7F}é😀\"", "[]", "{}", "[ ]", "{ }", "[[],{}]",
        #"{"":null}"#, #"{"a":1,"a":2}"#, #"{ "a" : [ 1 , { "b" : "c" } ] , "d" : -0.5e3 }"#, "\u{FEFF}[1]",
        "[\n                1,\n         2]", nested(512), mixed(200),
    ]

    private static let invalid = [
        "", " ", "01", "-", "-01", "00", "1.", ".5", "1.e5", "1e", "1e+", "+1", "1e5.5", "0x1", "1 2", "NaN", "tru",
        "truE", "nulll", "True", "\"", #""a"#, #""\""#, #""\x""#, #""\u""#, #""\u12G4""#, #""\u123""#, #""\U0041""#,
        "\"\t\"", "\"\u{0}\"", "'a'", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1}", "{", "}", #"{"a""#,
        #"{"a":"#, #"{"a":1"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a" 1}"#, #"{"a"}"#, "{a:1}", "{1:1}", #"{"a":1]"#,
        #"{"a":1 "b":2}"#, "[1]]", "{} {}", "[1],", "// c\n1", "[1]/**/", "\u{B}1", "\u{A0}1", "1\u{0}", "\u{FEFF}",
        "\u{FEFF}\u{FEFF}1", " \u{FEFF}1", mixed(200, wrong: 0), mixed(200, wrong: 1), mixed(200, wrong: 127),
        mixed(200, wrong: 128),
    ]

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    /// Returns nested containers, each third of which is an array. One of them may end with the wrong bracket.
    private static func mixed(_ depth: Int, wrong: Int? = nil) -> String {
        let isArray = { (level: Int) in level.isMultiple(of: 3) }
        let opening = (0..<depth).map { isArray($0) ? "[" : #"{"a":"# }
        let closing = (0..<depth).reversed().map { isArray($0) == ($0 != wrong) ? "]" : "}" }
        return opening.joined() + "1" + closing.joined()
    }

    @Test(arguments: valid)
    func validTextIsAcceptedByAllReaders(_ text: String) {
        for reader in Reader.allCases { #expect(reader.accepts(Array(text.utf8)), "\(reader)") }
    }

    @Test(arguments: invalid)
    func invalidTextIsRejectedByAllReaders(_ text: String) {
        for reader in Reader.allCases { #expect(!reader.accepts(Array(text.utf8)), "\(reader)") }
    }

    @Test func changedTextsAreJudgedAlike() {
        let text = #" {"a":[-1.5e+3,0,true,false,null,"\u00e9\"x"],"b":[{}],"c":{"d":[]}} "#
        let bytes = Array(text.utf8)
        for place in bytes.indices {
            for byte in #"{}[],:"\0.-eut x"#.utf8 {
                expectAgreement(bytes[..<place] + [byte] + bytes[(place + 1)...])
                expectAgreement(bytes[..<place] + [byte] + bytes[place...])
            }
            expectAgreement(bytes[..<place] + bytes[(place + 1)...])
            expectAgreement(bytes[..<place])
        }
    }

    private func expectAgreement(_ bytes: ArraySlice<UInt8>) {
        let text = Array(bytes)
        let isValid = Reader.tokenizer.accepts(text)
        for reader in Reader.allCases where reader.accepts(text) != isValid {
            Issue.record("\(reader) and the tokenizer disagree about \(String(decoding: text, as: UTF8.self))")
        }
    }

    @Test func checkForSecretsAcceptsOnlyValidContainers() {
        for text in Self.valid {
            let isContainer = text.contains("[") || text.contains("{")
            // A byte order mark and deep nesting are left to the complete scan.
            let isAccepted = isContainer && !text.hasPrefix("\u{FEFF}") && text.utf8.count < 512
            #expect(CleanJSONCheck.isClean(Redactor(), Array(text.utf8), depth: 0) == isAccepted, "\(text)")
        }
        for text in Self.invalid {
            #expect(!CleanJSONCheck.isClean(Redactor(), Array(text.utf8), depth: 0), "\(text)")
        }
    }

    private enum Reader: CaseIterable {
        case scanner, tokenizer, tokenizerOfBytes, cursor, walk

        func accepts(_ text: [UInt8]) -> Bool {
            do throws(JSONFault) {
                try text.withUnsafeBufferPointer { bytes throws(JSONFault) in try read(bytes) }
                return true
            } catch {
                return false
            }
        }

        private func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONFault) {
            switch self {
            case .scanner:
                var scanner = JSONScanner(bytes)
                scanner.passByteOrderMark()
                _ = try scanner.value()
                try scanner.finish()
            case .tokenizer:
                var tokenizer = JSONTokenizer()
                try tokenizer.feed(bytes) { _ in }
                try tokenizer.finish { _ in }
            case .tokenizerOfBytes:
                var tokenizer = JSONTokenizer()
                for index in bytes.indices {
                    try tokenizer.feed(UnsafeBufferPointer(rebasing: bytes[index...index])) { _ in }
                }
                try tokenizer.finish { _ in }
            case .cursor:
                var cursor = JSONCursor(bytes)
                cursor.skipByteOrderMark()
                _ = try cursor.skipValue()
                try cursor.finish()
            case .walk:
                _ = try ScreenWalk.findings(in: bytes, ScreenVocabulary.standard.table, limit: 1, recordsOutline: false)
            }
        }
    }
}
