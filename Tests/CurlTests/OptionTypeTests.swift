import BeagleNetHTTP
import CBeagleNetCurl
import Testing

@testable import BeagleNetCurl

/// Each option is set by the setter of its type: another setter would misread the argument list.
struct OptionTypeTests {
    struct Option: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let id: CURLoption
        let types: [curl_easytype]
    }

    private static func group<Options: CaseIterable>(
        _: Options.Type,
        _ types: [curl_easytype],
        _ id: (Options) -> CURLoption
    ) -> [Option] {
        Options.allCases.map { Option(testDescription: "\(Options.self).\($0)", id: id($0), types: types) }
    }

    static let options =
        group(LongOption.self, [CURLOT_LONG, CURLOT_VALUES], \.id)
        + group(OffsetOption.self, [CURLOT_OFF_T], \.id)
        + group(StringOption.self, [CURLOT_STRING], \.id)
        // An error buffer is a pointer that libcurl keeps, as are the contexts of callbacks.
        + group(PointerOption.self, [CURLOT_OBJECT, CURLOT_CBPTR], \.id)
        + group(BlobOption.self, [CURLOT_BLOB], \.id)
        + group(ListOption.self, [CURLOT_SLIST], \.id)
        + group(DataCallbackOption.self, [CURLOT_FUNCTION], \.id)
        // These have their own setters.
        + [
            ("seek", CURLOPT_SEEKFUNCTION), ("open", CURLOPT_OPENSOCKETFUNCTION),
            ("close", CURLOPT_CLOSESOCKETFUNCTION), ("request", CURLOPT_PREREQFUNCTION),
            ("resolve", CURLOPT_RESOLVER_START_FUNCTION), ("handshake", CURLOPT_SSL_CTX_FUNCTION),
            ("debug", CURLOPT_DEBUGFUNCTION),
        ].map { Option(testDescription: $0.0, id: $0.1, types: [CURLOT_FUNCTION]) }

    @Test(arguments: options) func optionTypeMatchesItsSetter(_ option: Option) throws {
        let known = try #require(curl_easy_option_by_id(option.id), "this libcurl does not have the option")
        #expect(option.types.contains(known.pointee.type))
    }

    @Test func handleAcceptsOneOptionOfEachGroup() throws {
        guard var easy = EasyHandle(FieldList([:], lines: [])) else {
            Issue.record("libcurl returned no handle")
            return
        }
        try easy.apply([
            .long(.noSignal, 1), .offset(.uploadSize, -1), .string(.url, "http://127.0.0.1/"), .string(.caPath, nil),
            .blob(.authorities, Data("key".utf8)), .list(.overrides, [:], lines: ["::127.0.0.1:1"]),
        ])
        let taken = [
            easy.set(.noSignal, 1), easy.set(.owner, nil), easy.set(.body) { _, size, count, _ in size * count },
        ]
        #expect(!taken.contains(false))
    }
}
