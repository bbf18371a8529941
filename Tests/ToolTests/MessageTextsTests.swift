import Foundation
import Testing

/// The messages, advice, log lines, warnings and help texts of the package, in one file and in plain words.
struct MessageTextsTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized
    /// Files of pages, schemas and generated source code: their texts are data.
    private static let dataFiles = ["DemoScreens", "DemoSchema", "Recording+HTMLReport", "Recording+GeneratedTests"]

    /// Each message as a line: `Sources/X/File.swift:LINE`, a tab and the text.
    private static func messages() throws -> [String] {
        let sources = try FileManager.default.subpathsOfDirectory(atPath: package.appending(path: "Sources").path)
        return try sources.sorted().flatMap { path -> [String] in
            guard path.hasSuffix(".swift"), !dataFiles.contains(where: path.contains) else { return [] }
            let source = try String(contentsOf: package.appending(path: "Sources/\(path)"), encoding: .utf8)
            return SourceTexts(source).texts.filter(isMessage).map { "Sources/\(path):\($0.line)\t\($0.content)" }
        }
    }

    /// Whether a text has three words, and isn't XML.
    private static func isMessage(_ text: SourceTexts.Text) -> Bool {
        text.content.first != "<"
            && text.content.split(separator: " ").count { $0.first != "{" && $0.contains(where: \.isLetter) } > 2
    }

    /// `cut -f 2 .build/check/messages.txt` shows all of them afterwards.
    @Test func messagesAreInPlainWords() throws {
        let messages = try Self.messages()
        let folder = Self.package.appending(path: ".build/check")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(messages.map { $0 + "\n" }.joined().utf8).write(
            to: folder.appending(path: "messages.txt"),
            options: .atomic
        )
        #expect(messages.count > 1_000, "the scanner misses texts")
        let unwanted =
            #/\b(who|whoever|nobody|somebody|is told|where (nil|it|there)|asked again|goes out|at once|besides)\b/#
        for message in messages where message.contains(unwanted.ignoresCase()) { Issue.record("\(message)") }
    }

    private static let textsOfASourceFileAreFoundArguments: [(String, [String])] = [
        (#"throw Failure("no \(file.path) in " + "\(count + 1) folders")"#, ["no {file.path} in {…} folders"]),
        (#"/// "a comment" \#n/* "one more" */ case .a: ["key": "it's \"here\""]"#, ["key", "it's \"here\""]),
        ("help: \"\"\"\n    A long\\\n     text\n    of \\(kind) lines.\n    \"\"\"", ["A long text of {kind} lines."]),
        (
            ##"log("\(isOpen ? "open" : "closed") socket", #"C:\u{41} "\#(name)""#)"##,
            ["{…} socket", "open", "closed", #"C:\u{41} "{name}""#]
        ),
    ]

    @Test(arguments: Self.textsOfASourceFileAreFoundArguments)
    func textsOfASourceFileAreFound(_ source: String, _ texts: [String]) {
        #expect(SourceTexts(source).texts.map(\.content) == texts)
    }
}
