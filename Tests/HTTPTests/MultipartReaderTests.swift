import BeagleNetHTTP
import Testing

/// The clauses are those of RFC 2046.
struct MultipartReaderTests {
    /// The result of reading a body. A part is written as `name: value|name: value>body`.
    private struct Reading: Equatable {
        var parts: [String] = []
        var isPartOpen = false
        var kind: NetworkError.Kind?

        init(_ pieces: [Data], boundary: String, maxHeadBytes: Int = 1 << 10, acceptsLineFeeds: Bool = false) {
            var body = Data()
            do throws(NetworkError) {
                var reader = try MultipartReader(
                    boundary: boundary,
                    maxHeadBytes: maxHeadBytes,
                    acceptsLineFeeds: acceptsLineFeeds
                )
                for piece in pieces {
                    reader.feed(piece)
                    while let element = try reader.next() {
                        switch element {
                        case .head(let fields):
                            parts.append(fields.map { "\($0.name.rawName): \($0.value)" }.joined(separator: "|") + ">")
                            isPartOpen = true
                        case .body(let bytes):
                            #expect(isPartOpen && !bytes.isEmpty)
                            body += bytes
                        case .end:
                            parts[parts.count - 1] += String(decoding: body, as: UTF8.self)
                            body = Data()
                            isPartOpen = false
                        }
                    }
                }
                try reader.finish()
            } catch {
                kind = error.kind
            }
        }
    }

    /// Reads the whole text, and expects the same result for every split and byte by byte.
    private func read(
        _ text: String,
        boundary: String = "b",
        maxHeadBytes: Int = 1 << 10,
        acceptsLineFeeds: Bool = false
    ) -> Reading {
        let bytes = Data(text.utf8)
        func reading(_ pieces: [Data]) -> Reading {
            Reading(
                pieces,
                boundary: boundary,
                maxHeadBytes: maxHeadBytes,
                acceptsLineFeeds: acceptsLineFeeds
            )
        }
        let whole = reading([bytes])
        for place in 0...bytes.count {
            #expect(reading([bytes.prefix(place), bytes.dropFirst(place)]) == whole, "split at \(place)")
        }
        #expect(reading(bytes.map { Data([$0]) }) == whole, "a byte at a time")
        return whole
    }

    private static let partsAreReadAtEverySplitArguments: [(String, [String])] = [
        ("--b\r\nA: 1\r\n\r\nbody\r\n--b--\r\n", ["A: 1>body"]),
        ("\r\n--b\r\nA: 1\r\nB:2 \r\n\r\nx\r\n--b\r\n\r\ny\r\n--b--", ["A: 1|B: 2>x", ">y"]),
        // Preamble and epilogue are skipped (5.1.1).
        ("about\r\n--bx\r\n--b\r\n\r\nx\r\n--b--\r\nend\r\n--b\r\n\r\nz\r\n--b--", [">x"]),
        // A boundary can be followed by white space, and isn't the prefix of a longer line (5.1.1).
        ("--b \t\r\n\r\nx\r\n--b-- ", [">x"]),
        ("--b\r\n\r\nx\r\n--bc\r\n--b-\r\n--b\n\r\n --b\r\n--b--", [">x\r\n--bc\r\n--b-\r\n--b\n\r\n --b"]),
        ("--b\r\n\r\nx\r\n--b \tc\r\n--b--", [">x\r\n--b \tc"]),
        // Only the last line end before a boundary belongs to it.
        ("--b\r\n\r\n\r\n\r\n--b--", [">\r\n"]), ("--b\r\n\r\n\r\n--b--", [">"]),
        ("--b\r\n\r\nx\r\r\n--b--", [">x\r"]), ("--b\r\n\r\n\r\n\r\r\n-\r\n--\r\n--b--", [">\r\n\r\r\n-\r\n--"]),
        // Some writers omit the line end of an empty body.
        ("--b\r\nA: 1\r\n\r\n--b\r\n\r\n--b--", ["A: 1>", ">"]), ("--b\r\n\r\n--bc\r\n--b--", [">--bc"]),
        ("--b--", []),
        // Some omit it for an empty part, too.
        ("--b\r\n\r\nx\r\n--b\r\n--b--", [">x", ">"]), ("--b\r\n--b \r\n\r\nx\r\n--b--", [">", ">x"]),
        ("--b\r\n--b: 1\r\n--bc: 2\r\n\r\nx\r\n--b--", ["--b: 1|--bc: 2>x"]),
        // A field can continue on the next line (RFC 5322, 2.2.3).
        ("--b\r\nA: 1;\r\n b=2\r\n\r\nx\r\n--b--", ["A: 1; b=2>x"]),
        ("--b\r\nA: é\r\n\r\né😀\r\n--b--", ["A: é>é😀"]),
    ]

    @Test(arguments: Self.partsAreReadAtEverySplitArguments)
    func partsAreReadAtEverySplit(text: String, expected: [String]) {
        let reading = read(text)
        #expect(reading.parts == expected)
        #expect(reading.kind == nil)
    }

    private static let bareLineFeedsEndLinesIfAcceptedArguments: [(String, [String])] = [
        ("--b\nA: 1\n\nx\n--b\n\ny\n--b--\n", ["A: 1>x", ">y"]),
        ("about\n--b\r\nA: 1\n\r\nx\r\n--b \n\r\n\n\n\n--b--", ["A: 1>x", ">\n\n"]),
        ("--b\n\nx\r\r\n--bc\n--b\rd\n\n--b\n--b--", [">x\r\r\n--bc\n--b\rd\n", ">"]),
        ("--b\nA: 1;\n b=2\n\n--b\n\n--b--", ["A: 1; b=2>", ">"]),
        ("--b\r\nA: 1\r\n\r\nx\r\n--b--\r\n", ["A: 1>x"]),
    ]

    @Test(arguments: Self.bareLineFeedsEndLinesIfAcceptedArguments)
    func bareLineFeedsEndLinesIfAccepted(text: String, expected: [String]) {
        let reading = read(text, acceptsLineFeeds: true)
        #expect(reading.parts == expected)
        #expect(reading.kind == nil)
    }

    @Test func bytesOutsideOfABoundaryAreReturnedImmediately() throws {
        var reader = try MultipartReader(boundary: "boundary")
        reader.feed(Data("--boundary\r\n\r\n{}".utf8))
        #expect(try reader.next() == .head(HTTPFields()))
        #expect(try reader.next() == .body(Data("{}".utf8)))
        reader.feed(Data("\r\n--boundary".utf8))
        #expect(try reader.next() == nil)
        reader.feed(Data("x".utf8))
        var given = Data()
        while case .body(let bytes) = try reader.next() { given += bytes }
        #expect(String(decoding: given, as: UTF8.self) == "\r\n--boundaryx")
    }

    @Test func dashesCanBeTheBoundary() {
        let text = "---\r\nContent-Type: application/json\r\n\r\n{}\r\n---\r\n\r\n-\r\n-----\r\n"
        #expect(read(text, boundary: "-").parts == ["Content-Type: application/json>{}", ">-"])
    }

    private static let bodyWithoutItsLastBoundaryIsTruncatedArguments: [String] = [
        "", "x", "--b", "--b\r\n", "--b\r\n\r\nx", "--b\r\n\r\nx\r\n--b", "--b\r\n\r\nx\r\n--b-",
        "--b\r\n\r\nx--b--",
    ]

    @Test(arguments: Self.bodyWithoutItsLastBoundaryIsTruncatedArguments)
    func bodyWithoutItsLastBoundaryIsTruncated(text: String) {
        #expect(read(text).kind == .truncated)
    }

    private static let malformedHeadIsRejectedArguments: [String] = [
        "--b\r\nA\r\n\r\n", "--b\r\n: 1\r\n\r\n", "--b\r\nA B: 1\r\n\r\n", "--b\r\nA: 1\0\r\n\r\n",
        "--b\r\n A: 1\r\n\r\n",
        "--b\r\nA: 1\r\n--b--\r\n\r\n",
    ]

    @Test(arguments: Self.malformedHeadIsRejectedArguments)
    func malformedHeadIsRejected(text: String) {
        #expect(read(text).kind == .protocol)
    }

    @Test func headIsLimitedInSize() {
        #expect(read("--b\r\nA: 123\r\n\r\n\r\n--b--", maxHeadBytes: 10).kind == nil)
        #expect(read("--b\r\nA: 1234\r\n\r\n\r\n--b--", maxHeadBytes: 10).kind == .tooLarge)
        #expect(read("--b\r\nA: 12345678901234567890", maxHeadBytes: 10).kind == .tooLarge)
        #expect(read("--b\r\nA: 1\r\nB: 2\r\nC: 3\r\n", maxHeadBytes: 16).kind == .tooLarge)
    }

    @Test func failedReaderKeepsFailing() throws {
        var reader = try MultipartReader(boundary: "b")
        reader.feed(Data("--b\r\nA\r\n\r\nx\r\n--b--".utf8))
        for _ in 0..<3 { #expect(throws: NetworkError.self) { try reader.next() } }
        #expect(throws: NetworkError.self) { try reader.finish() }
    }

    @Test(
        arguments: ["multipart/mixed; boundary=b", #"Multipart/Form-Data; x=y; Boundary="b""#]
    )
    func boundaryIsReadFromTheMediaType(contentType: String) throws {
        var reader = try MultipartReader(contentType: contentType)
        reader.feed(Data("--b--".utf8))
        #expect(try reader.next() == nil)
        try reader.finish()
    }

    @Test(
        arguments: [
            "multipart/mixed", "text/html; boundary=b", "", "multipart/mixed; boundary=",
            "multipart/mixed; boundary=" + String(repeating: "b", count: 71),
        ]
    )
    func missingOrInvalidBoundaryIsAnError(contentType: String) {
        let error = #expect(throws: NetworkError.self) { try MultipartReader(contentType: contentType) }
        #expect(error?.kind == .protocol)
    }
}
